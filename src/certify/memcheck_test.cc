#include "certify/memcheck.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "evaluate/isolate/messages.h"
#include "evaluate/isolate/once.h"
#include "program/plan.h"

namespace gemmsmith {
namespace {

TEST(MemcheckLog, ACleanOneIsCompleteAndHasNoErrors) {
  const MemcheckLog log = ParseMemcheckLog(
      "========= COMPUTE-SANITIZER\n"
      "========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 0);
  EXPECT_EQ(log.first, "");
}

TEST(MemcheckLog, TheFirstErrorIsToldWithItsPlaceButNotItsBacktrace) {
  const MemcheckLog log = ParseMemcheckLog(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 2 bytes\n"
      "=========     at gemmsmith_gemm+0x1f40\n"
      "=========     by thread (31,0,0) in block (3,2,0)\n"
      "=========     Access to 0x7f2c00400002 is out of bounds\n"
      "=========     and is 3 bytes after the nearest allocation at 0x7f2c00200000 of size 2,097,152 bytes\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame:cuLaunchKernelEx [0x2f1a] in libcuda.so.1\n"
      "=========         Host Frame:main [0x11] in gemmsmith\n"
      "=========\n"
      "========= Invalid __shared__ read of size 16 bytes\n"
      "=========     at gemmsmith_gemm+0x20\n"
      "=========\n"
      "========= ERROR SUMMARY: 7 errors\n"
      "========= ERROR SUMMARY: 4 errors were not printed. Use --print-limit option to adjust the number of printed "
      "errors\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 7);
  EXPECT_EQ(
      log.first,
      "Invalid __global__ write of size 2 bytes, at gemmsmith_gemm+0x1f40, by thread (31,0,0) in block (3,2,0), "
      "Access to 0x7f2c00400002 is out of bounds, and is 3 bytes after the nearest allocation at 0x7f2c00200000 of "
      "size 2,097,152 bytes");
}

TEST(MemcheckLog, WhatTheProgramPrintsBetweenIsNotItsOwn) {
  const MemcheckLog log = ParseMemcheckLog(
      "ERROR SUMMARY: 5 errors\n"
      "========= COMPUTE-SANITIZER\r\n"
      "an output of the program\n"
      "========= ERROR SUMMARY: 1 error\r\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 1);
}

TEST(MemcheckLog, WithoutASummaryTheToolDidNotSeeTheEnd) {
  for (const char* text : {"", "=========", "========= COMPUTE-SANITIZER\n",
                           "========= Error: Target application terminated before first instrumented API call\n",
                           "========= Target application returned an error\n", "========= ERROR SUMMARY: many errors\n",
                           "========= ERROR SUMMARY:"})
    EXPECT_FALSE(ParseMemcheckLog(text).is_complete) << text;
}

TEST(MemcheckLog, AnyCutKeepsWhatStandsBeforeIt) {
  const std::string text =
      "========= COMPUTE-SANITIZER\n========= Misaligned read\n=========     at k+0x1\n========= ERROR SUMMARY: 1 "
      "error\n";
  for (size_t length = text.find('\n') + 1; length <= text.size(); ++length) {
    const MemcheckLog log = ParseMemcheckLog(std::string_view(text).substr(0, length));
    EXPECT_TRUE(std::string_view("Misaligned read, at k+0x1").starts_with(log.first)) << log.first;
    EXPECT_EQ(log.is_complete, length >= text.find(" error\n")) << length;
  }
}

// A tool that writes the log it is told, says what the program would, and ends as it would.
class MemcheckByFakeTool : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_.path() / "bin");
    ::setenv("GEMMSMITH_CUDA", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("GEMMSMITH_CUDA"); }

  MemcheckResult Run(const std::string& log, const std::string& words, int exit_code) {
    Install(
        fmt::format("#!/bin/sh\n"
                    "echo \"$@\" > {0}/words\n"
                    "while [ \"$1\" != once ]; do [ \"$1\" = --log-file ] && printf '{1}' > \"$2\"; shift; done\n"
                    "cp \"$2\" {0}/call\n"
                    "echo '{2}' >&2\n"
                    "exit {3}\n",
                    folder_.path().string(), log, words, exit_code));
    return RunMemcheck(Some({1, 2, 3}), KnownDevices().front(), {.gpu_ordinal = 2});
  }
  void Install(const std::string& script) const {
    const std::filesystem::path tool = folder_.path() / "bin/compute-sanitizer";
    EXPECT_TRUE(WriteFileAtomic(tool, script).ok());
    std::filesystem::permissions(tool, std::filesystem::perms(0755));
  }
  static Candidate Some(std::vector<uint8_t> cubin) {
    Candidate candidate;
    candidate.request.gemm = {{64, 64, 128}, {kTn}};
    candidate.request.subject = DefaultPlan(FamilyId::kDirect);
    candidate.request.protocol = Protocol::kScreen;
    candidate.prepared.compilation.succeeded = true;
    candidate.prepared.compilation.binary.entry = "kernel";
    candidate.prepared.compilation.binary.cubin = std::move(cubin);
    return candidate;
  }
  std::string Seen(const char* name) { return *ReadFile(folder_.path() / name); }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-memcheck-test");
};

constexpr const char* kClean = "========= COMPUTE-SANITIZER\\n========= ERROR SUMMARY: 0 errors\\n";

TEST_F(MemcheckByFakeTool, WatchesOneCallOfTheCandidatesKernel) {
  const MemcheckResult found = Run(kClean, "", 0);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_FALSE(found->has_value()) << "clean";
  EXPECT_NE(Seen("words").find("--kernel-name kns=kernel"), std::string::npos);
  EXPECT_NE(Seen("words").find("--gpu 2 --calls 1"), std::string::npos);
  const Result<SingleCall> call = DecodeSingleCall(Seen("call"));
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_EQ(call->problem.gemm.shape, (Shape{64, 64, 128}));
  EXPECT_EQ(call->candidate.cubin, (std::vector<uint8_t>{1, 2, 3}));
}

TEST_F(MemcheckByFakeTool, AnErrorMakesItWrongHoweverTheCallEnded) {
  for (const int exit_code : {0, kCallFailedExitCode}) {
    const MemcheckResult found =
        Run("========= Misaligned read\\n========= ERROR SUMMARY: 2 errors\\n", "gemmsmith: it crashed", exit_code);
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->kind, OutcomeKind::kWrong);
    EXPECT_EQ((*found)->stage, "memcheck");
    EXPECT_EQ((*found)->reason, "2 memory errors, the first: Misaligned read");
  }
}

TEST_F(MemcheckByFakeTool, ACallThatFailsWithoutAnErrorOfMemoryIsTold) {
  const Result<std::optional<Outcome>> found =
      Run(kClean, "gemmsmith: cuLaunchKernelEx: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", kCallFailedExitCode);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->kind, OutcomeKind::kLaunchFailed);
  EXPECT_EQ((*found)->reason, "under compute-sanitizer: cuLaunchKernelEx: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
}

TEST_F(MemcheckByFakeTool, WhatTheMachineLacksIsNoOutcome) {
  const Status missing = Run(kClean, "gemmsmith: there is no GPU 2", 3).status();
  EXPECT_EQ(missing.code(), StatusCode::kIoError);
  EXPECT_NE(missing.message().find("exit code 3"), std::string::npos) << missing.message();
  EXPECT_NE(missing.message().find("there is no GPU 2"), std::string::npos) << missing.message();
  EXPECT_NE(Run("", "the tool does not start", 0).status().message().find("and no summary"), std::string::npos);
}

// A tool that finds an error in calls that hold "curious", and fails on those that hold "broken".
TEST_F(MemcheckByFakeTool, SeveralShareAProcessUntilOneIsNotClean) {
  Install(fmt::format(
      "#!/bin/sh\n"
      "while [ \"$1\" != once ]; do [ \"$1\" = --log-file ] && log=$2; shift; done\n"
      "shift\n"
      "count=0\n"
      "summary='0 errors'\n"
      "while [ \"$1\" != --gpu ]; do\n"
      "  count=$((count + 1))\n"
      "  grep -q broken \"$1\" && exit 3\n"
      "  [ $count -gt 1 ] && grep -q shy \"$1\" && echo '========= Invalid write' > $log && summary='1 error'\n"
      "  grep -q curious \"$1\" && echo '========= Invalid read' > $log && summary='1 error'\n"
      "  shift\n"
      "done\n"
      "echo $count >> {0}/processes\n"
      "echo \"========= ERROR SUMMARY: $summary\" >> $log\n",
      folder_.path().string()));
  const auto of = [](std::string_view code) { return Some({code.begin(), code.end()}); };
  const auto watch = [](std::vector<Candidate> candidates) {
    return RunMemcheckTogether(candidates, KnownDevices().front(), {});
  };
  std::vector<MemcheckResult> results = watch({of("one"), of("two"), of("three")});
  ASSERT_EQ(results.size(), 3u);
  for (const MemcheckResult& result : results) EXPECT_TRUE(result.ok() && !result->has_value());
  EXPECT_EQ(Seen("processes"), "3\n");

  results = watch({of("one"), of("curious"), of("three")});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].ok() && !results[0]->has_value());
  ASSERT_TRUE(results[1].ok() && results[1]->has_value());
  EXPECT_EQ((*results[1])->reason, "1 memory errors, the first: Invalid read");
  EXPECT_TRUE(results[2].ok() && !results[2]->has_value());
  EXPECT_EQ(Seen("processes"), "3\n3\n1\n1\n1\n") << "together, then each alone";

  results = watch({of("broken"), of("two")});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].status().code(), StatusCode::kIoError);
  EXPECT_TRUE(results[1].ok() && !results[1]->has_value());
  EXPECT_TRUE(watch({}).empty());

  results = watch({of("one"), of("shy")});
  ASSERT_EQ(results.size(), 2u);
  for (const MemcheckResult& result : results)
    EXPECT_NE(result.status().message().find("none of each alone, the first: Invalid write"), std::string::npos);

  std::filesystem::remove(folder_.path() / "processes");
  results = watch({of("broken"), of("broken"), of("two")});
  EXPECT_EQ(results[2].status().code(), StatusCode::kIoError) << "the tool has failed twice in a row";
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "processes"));
}

TEST(Memcheck, WithoutTheToolItSaysWhatToDo) {
  ::setenv("PATH", "/nowhere", 1);
  ::setenv("GEMMSMITH_CUDA", "/nowhere", 1);
  const MemcheckResult result = RunMemcheck({}, {}, {});
  if (result.status().code() != StatusCode::kUnavailable) GTEST_SKIP() << "the toolkit here has it";
  EXPECT_NE(result.status().message().find("--memcheck"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
