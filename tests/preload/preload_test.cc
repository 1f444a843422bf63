// libgemmsmith_preload.so under programs that know nothing of it. tests/preload/program.cc says what its words do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "fake/kernels.h"
#include "problem/product_record.h"

namespace gemmsmith {
namespace {

const Gemm kLinear{.shape = {32, 64, 64}, .kind = {.layout = kTn}};

class Preloaded : public testing::Test {
 protected:
  void SetUp() override {
    Set("XDG_CONFIG_HOME", folder_.path() / "config");
    Set("GEMMSMITH_KERNELS", folder_.path() / "none");
  }
  // `speed_up` is the entry's over cuBLASLt.
  void WriteOverlay(double speed_up) {
    KernelFile file("h200");
    AddEntry(kLinear, PlanFor(kLinear), speed_up, file);
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "config/gemmsmith/overlay/h200.kernels", file.Print()).ok());
  }
  void Set(std::string name, std::string value) { environment_[std::move(name)] = std::move(value); }
  ProcessResult Start(std::vector<std::string> words) {
    std::vector<std::string> command = {"env"};
    for (const auto& [name, value] : environment_) command.push_back(name + "=" + value);
    command.insert(command.end(), words.begin(), words.end());
    const Result<ProcessResult> result = RunProcess(command, std::chrono::seconds(60));
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : ProcessResult{.exit_code = -1};
  }
  // With the library preloaded.
  std::string Output(const char* program, const std::vector<std::string>& words) {
    std::vector<std::string> command = {std::string("LD_PRELOAD=") + PRELOAD, program};
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result = Start(command);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }
  std::map<std::string, int64_t> Recorded(const std::filesystem::path& path) {
    const Result<std::optional<ProductRecord>> record = ReadProductRecord(path);
    EXPECT_TRUE(record.ok() && record->has_value()) << record.status().message();
    std::map<std::string, int64_t> calls;
    if (record.ok() && *record)
      for (const ProductRecord::Line& line : (*record)->Lines()) calls[line.text] = line.calls;
    return calls;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-preload");
  std::map<std::string, std::string> environment_;
};

class Preload : public Preloaded, public testing::WithParamInterface<const char*> {};

// Programs that are linked with cuBLAS, and programs that find it by dlopen and dlsym.
INSTANTIATE_TEST_SUITE_P(Programs, Preload, testing::Values(LINKED_PROGRAM, DLSYM_PROGRAM),
                         [](const auto& one) { return one.index == 0 ? "Linked" : "ByDlsym"; });

TEST_P(Preload, CallsThatAKernelServesDoNotReachCublas) {
  WriteOverlay(2);
  EXPECT_EQ(Output(GetParam(), {"plain", "plain_64", "batch_of_1", "batch_of_1_64", "lt", "tf32_is_allowed"}),
            "plain right cublas=0 ours=1\n"
            "plain_64 right cublas=0 ours=1\n"
            "batch_of_1 right cublas=0 ours=1\n"
            "batch_of_1_64 right cublas=0 ours=1\n"
            "lt right cublas=0 ours=1\n"
            "tf32_is_allowed right cublas=0 ours=1\n");
}

TEST_P(Preload, CallsOfAnyOtherKindReachCublasAsTheyAre) {
  WriteOverlay(2);
  const std::vector<std::string> words = {"batch_of_3",
                                          "batch_of_3_64",
                                          "hgemm",
                                          "hgemm_batch",
                                          "f16_sums",
                                          "f32_result",
                                          "f32",
                                          "alpha",
                                          "beta",
                                          "unaligned",
                                          "pedantic",
                                          "pedantic_math",
                                          "lt_rows",
                                          "some_multiprocessors",
                                          "scales_on_device",
                                          "lt_scale_pointer"};
  std::string expected;
  for (const std::string& word : words) expected += word + " right cublas=1 ours=0\n";
  EXPECT_EQ(Output(GetParam(), words), expected);
}

TEST_P(Preload, AProductThatCublasIsFasterAtIsLeftToIt) {
  WriteOverlay(0.9);
  EXPECT_EQ(Output(GetParam(), {"plain", "lt"}), "plain right cublas=1 ours=0\nlt right cublas=1 ours=0\n");
}

TEST_P(Preload, WithoutKernelsEverythingReachesCublas) {
  EXPECT_EQ(Output(GetParam(), {"plain", "lt"}), "plain right cublas=1 ours=0\nlt right cublas=1 ours=0\n");
}

// A kernel cannot be loaded while the stream is captured.
TEST_P(Preload, AFirstCallUnderCaptureIsPassedOnAndALaterOneIsServed) {
  WriteOverlay(2);
  EXPECT_EQ(Output(GetParam(), {"captured", "plain", "captured"}),
            "captured right cublas=1 ours=0\n"
            "plain right cublas=0 ours=1\n"
            "captured right cublas=0 ours=1\n");
}

TEST_P(Preload, SwitchedOffItTakesNothing) {
  WriteOverlay(2);
  Set("GEMMSMITH_PRELOAD", "off");
  Set("GEMMSMITH_LOG", "summary");
  Set("GEMMSMITH_RECORD", folder_.path() / "job.shapes");
  EXPECT_EQ(Output(GetParam(), {"plain", "lt"}), "plain right cublas=1 ours=0\nlt right cublas=1 ours=0\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "job.shapes"));
}

TEST_P(Preload, AnOldDriverLeavesEverythingToCublas) {
  WriteOverlay(2);
  Set("FAKE_CUDA", "12040");
  Set("GEMMSMITH_LOG", "summary");
  const std::string output = Output(GetParam(), {"plain", "lt"});
  EXPECT_NE(output.find("plain right cublas=1 ours=0\nlt right cublas=1 ours=0\n"), std::string::npos) << output;
  EXPECT_NE(output.find("gemmsmith: all products go to cuBLAS from here on: the NVIDIA driver is too old"),
            std::string::npos)
      << output;
}

TEST_P(Preload, RtldNextKeepsItsCaller) { EXPECT_EQ(Output(GetParam(), {"next"}), "next right cublas=0 ours=0\n"); }

TEST_P(Preload, TheSummaryCountsByReason) {
  WriteOverlay(2);
  Set("GEMMSMITH_LOG", "summary");
  const std::string output = Output(GetParam(), {"captured", "plain", "lt", "alpha", "f32"});
  EXPECT_NE(output.find("gemmsmith: 2 of 4 half-precision products by kernels of ours; by cuBLAS: 1 of a kind that "
                        "ours do not compute, 0 where ours are not expected to be faster, 1 captured before their "
                        "first call, 0 after an error\n"),
            std::string::npos)
      << output;
}

TEST_P(Preload, ARecordTellsProductsApart) {
  const std::filesystem::path path = folder_.path() / "job.shapes";
  Set("GEMMSMITH_RECORD", path);
  Output(GetParam(), {"plain", "lt", "batch_of_3", "hgemm", "f32_result", "f32", "alpha", "beta", "unaligned",
                      "pedantic_math", "scales_on_device", "plain"});
  const std::map<std::string, int64_t> expected = {
      {"gemm 32x64x64 tn f16 f32", 3},
      {"gemm 32x64x64 tn f16 f16", 1},
      {"other 32x64x64 tn f16 f32 batch=3 steps=2048,4096,2048", 1},
      {"other 32x64x64 tn f16 f32 result=f32", 1},
      {"other 32x64x64 tn f16 f32 alpha", 1},
      {"other 32x64x64 tn f16 f32 beta", 1},
      {"other 32x64x64 tn f16 f32 alignment=8", 1},
      {"other 32x64x64 tn f16 f32 settings", 2},
  };
  EXPECT_EQ(Recorded(path), expected);
}

TEST_P(Preload, ARecordIsExactWithThreadsAndChildren) {
  WriteOverlay(2);
  const std::filesystem::path path = folder_.path() / "job.shapes";
  Set("GEMMSMITH_RECORD", path);
  EXPECT_EQ(Output(GetParam(), {"threads"}), "threads right cublas=0 ours=400\n");
  EXPECT_EQ(Recorded(path), (std::map<std::string, int64_t>{{"gemm 32x64x64 tn f16 f32", 400}}));
  Output(GetParam(), {"plain", "children", "plain"});
  EXPECT_EQ(Recorded(path), (std::map<std::string, int64_t>{{"gemm 32x64x64 tn f16 f32", 417}}));
}

TEST_P(Preload, AProcessThatEndsAbruptlyLosesItsOwnCallsAlone) {
  const std::filesystem::path path = folder_.path() / "job.shapes";
  Set("GEMMSMITH_RECORD", path);
  EXPECT_NE(Output(GetParam(), {"plain", "abrupt_children", "plain"}).find("abrupt_children right"), std::string::npos);
  EXPECT_EQ(Recorded(path), (std::map<std::string, int64_t>{{"gemm 32x64x64 tn f16 f32", 2}}));
}

TEST_P(Preload, RecordsOfProcessesMayHaveFilesOfTheirOwn) {
  Set("GEMMSMITH_RECORD", folder_.path() / "job.%p.shapes");
  Output(GetParam(), {"plain", "children"});
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    files += entry.path().extension() == ".shapes";
  EXPECT_EQ(files, 4);
}

TEST_P(Preload, AFileThatIsNoRecordIsLeftAsItIs) {
  const std::filesystem::path path = folder_.path() / "precious";
  ASSERT_TRUE(WriteFileAtomic(path, "precious\n").ok());
  Set("GEMMSMITH_RECORD", path);
  const std::string output = Output(GetParam(), {"plain"});
  EXPECT_NE(output.find("is no record of products"), std::string::npos) << output;
  EXPECT_EQ(*ReadFile(path), "precious\n");
}

// What is recorded becomes an entry of the overlay, which the next start finds. The search between needs a GPU.
TEST_P(Preload, TheLoopCloses) {
  const std::filesystem::path path = folder_.path() / "job.shapes";
  const std::vector<std::string> run = {GEMMSMITH, "run",      "--summary", "--record", path,
                                        "--",      GetParam(), "plain",     "lt"};
  Set("GEMMSMITH_HOME", folder_.path() / "home");
  const ProcessResult first = Start(run);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_NE(first.output.find("gemmsmith: 0 of 2 half-precision products by kernels of ours"), std::string::npos)
      << first.output;
  const ProcessResult search = Start({GEMMSMITH, "optimize", path, "--promote", "--brief", "--device", "h200"});
  EXPECT_EQ(search.exit_code, 3) << search.output;
  EXPECT_NE(search.output.find("GPU"), std::string::npos) << search.output;
  ASSERT_EQ(Recorded(path), (std::map<std::string, int64_t>{{Print(kLinear), 2}}));
  WriteOverlay(2);
  const ProcessResult second = Start(run);
  EXPECT_NE(second.output.find("gemmsmith: 2 of 2 half-precision products by kernels of ours"), std::string::npos)
      << second.output;
  EXPECT_EQ(Recorded(path), (std::map<std::string, int64_t>{{Print(kLinear), 2}})) << "run begins a record anew";
}

TEST_F(Preloaded, RunHandsTheProgramsExitCodeOn) {
  EXPECT_EQ(Start({GEMMSMITH, "run", "--", "sh", "-c", "exit 42"}).exit_code, 42);
  EXPECT_EQ(Start({GEMMSMITH, "run", "--record-only", "--record", folder_.path() / "r", "--", "sh", "-c",
                   "echo $GEMMSMITH_PRELOAD --summary"})
                .output,
            "record --summary\n");
}

TEST_F(Preloaded, RunSaysWhatIsWrongInOneLine) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "precious", "precious\n").ok());
  const struct {
    std::vector<std::string> words;
    int exit_code;
    std::string reason;
  } cases[] = {
      {{}, 2, "PROGRAM"},
      {{"--record-only", "--", "true"}, 2, "--record-only goes with --record FILE"},
      {{"--", "/no/such/program"}, 3, "/no/such/program does not start: No such file"},
      {{"--overlay", "/no/such/overlay", "--", "true"}, 3, "/no/such/overlay does not exist"},
      {{"--record", folder_.path() / "precious", "--", "true"}, 2, "is no record of products"},
      {{"--record", "/proc/none/job.shapes", "--", "true"}, 1, "/proc/none"},
  };
  for (const auto& [words, exit_code, reason] : cases) {
    std::vector<std::string> command = {GEMMSMITH, "run"};
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result = Start(command);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    EXPECT_NE(result.output.find(reason), std::string::npos) << result.output;
    EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output;
  }
}

TEST_F(Preloaded, ExportsExactlyWhatItInterposes) {
  const ProcessResult result = Start({"nm", "-D", "--defined-only", PRELOAD});
  ASSERT_EQ(result.exit_code, 0) << result.output;
  std::vector<std::string> names;
  for (const std::string_view line : Split(result.output, '\n'))
    if (const std::vector<std::string_view> words = SplitWords(line); words.size() == 3) names.emplace_back(words[2]);
  std::ranges::sort(names);
  const std::vector<std::string> expected = {"cublasGemmEx",
                                             "cublasGemmEx_64",
                                             "cublasGemmStridedBatchedEx",
                                             "cublasGemmStridedBatchedEx_64",
                                             "cublasHgemm",
                                             "cublasHgemmStridedBatched",
                                             "cublasHgemmStridedBatched_64",
                                             "cublasHgemm_64",
                                             "cublasLtMatmul",
                                             "dlsym"};
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace gemmsmith
