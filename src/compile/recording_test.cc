#include "compile/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/subprocess.h"
#include "compile/recording_test_source.h"
#include "compile/source_program.h"

namespace gemmsmith {
namespace {

class RecordingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::unique_ptr<SourceCompiler>> compiler = MakeSourceCompiler();
    if (!compiler.ok()) {
      why_not_ = compiler.status().message();
      return;
    }
    const Result<SourceCompilation> compilation = (*compiler)->Compile(kRecordingTestSource, "sm_90a");
    ASSERT_TRUE(compilation.ok() && compilation->program) << (compilation.ok() ? compilation->log : "");
    program_ = *compilation->program;
  }
  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  }
  static std::vector<LaunchRecord> Record(std::span<const Shape> shapes, uint64_t seed = 1) {
    Result<std::vector<LaunchRecord>> recordings = RecordLaunches(program_, *FindDevice("h200"), shapes, seed);
    EXPECT_TRUE(recordings.ok()) << recordings.status().message();
    return *std::move(recordings);
  }
  static LaunchRecord Record(int m) { return Record(std::array{Shape{m, 5, 6}}).at(0); }
  static Recipe RecipeOf(int m) {
    const LaunchRecord recording = Record(m);
    EXPECT_TRUE(recording.recipe) << recording.reason;
    return recording.recipe.value_or(Recipe{});
  }
  static void ExpectEnd(int m, RecordEnd end, std::string_view words) {
    const LaunchRecord recording = Record(m);
    EXPECT_FALSE(recording.recipe) << m;
    EXPECT_EQ(recording.end, end) << m << ": " << recording.reason;
    EXPECT_NE(recording.reason.find(words), std::string::npos) << m << ": " << recording.reason;
  }
  static SourceProgram program_;
  static std::string why_not_;
};
SourceProgram RecordingTest::program_;
std::string RecordingTest::why_not_;

constexpr const char* kPlain = "_Z5PlainPKvS0_Pvi";

TEST_F(RecordingTest, ARecipeHoldsMemsetsKernelsAddressesAndMaps) {
  const Recipe recipe = RecipeOf(1);
  ASSERT_EQ(recipe.maps.size(), 1u);
  EXPECT_EQ(recipe.maps[0], (RecipeMap{.address = {CallOperand::kB, 32},
                                       .type = 6,
                                       .rank = 2,
                                       .extent = {64, 32},
                                       .stride_bytes = {128},
                                       .box = {64, 8},
                                       .element_strides = {1, 1},
                                       .swizzle = 3,
                                       .l2_promotion = 3}));
  ASSERT_EQ(recipe.steps.size(), 3u);
  EXPECT_EQ(std::get<MemsetStep>(recipe.steps[0]), (MemsetStep{{CallOperand::kWorkspace, 64}, 255, 1024}));
  const auto& structs = std::get<KernelStep>(recipe.steps[1]);
  EXPECT_EQ(structs.grid, (Dim3{5, 2, 3}));
  EXPECT_EQ(structs.block, (Dim3{32, 4, 1}));
  EXPECT_EQ(structs.smem_bytes, 512u);
  EXPECT_EQ(structs.addresses,
            (std::vector<AddressPlace>{{8, {CallOperand::kA, 16}}, {240, {CallOperand::kWorkspace, 0}}}));
  EXPECT_EQ(structs.maps, (std::vector<MapPlace>{{112, 0}}));
  std::vector<uint8_t> parameters(248);
  parameters[0] = 1, parameters[16] = 7;
  EXPECT_EQ(structs.parameters, parameters) << "padding is zero";
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[2]).kernel, kPlain);
  EXPECT_TRUE(recipe.UsesWorkspace());
}

TEST_F(RecordingTest, RecipesDoNotDependOnTheInventedAddresses) {
  const Shape shapes[] = {{1, 5, 6}, {3, 5, 6}, {1, 9, 6}};
  const std::vector<LaunchRecord> first = Record(shapes, 1), second = Record(shapes, 2);
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_TRUE(first[i].recipe) << first[i].reason;
    EXPECT_EQ(Print(*first[i].recipe), Print(second[i].recipe.value()));
  }
  EXPECT_NE(*first[0].recipe, *first[2].recipe);
}

TEST_F(RecordingTest, AttributesAreTaken) {
  const Recipe recipe = RecipeOf(2);
  ASSERT_EQ(recipe.steps.size(), 4u);
  const auto step = [&](size_t i) { return std::get<KernelStep>(recipe.steps[i]); };
  EXPECT_EQ(step(0).cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(step(0).carveout_percent, 50);
  EXPECT_TRUE(step(1).is_programmatic);
  EXPECT_TRUE(step(2).is_cooperative);
  EXPECT_EQ(step(3).carveout_percent, 25);
}

TEST_F(RecordingTest, TheDeviceModelAnswersQueries) {
  const Recipe recipe = RecipeOf(3);
  ASSERT_EQ(recipe.steps.size(), 1u);
  // 233,472 / (40,000 + 1,024 rounded up) = 5 CTAs; two CTAs of 1,024 threads a multiprocessor.
  const Device device = *FindDevice("h200");
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid, (Dim3{132, 5, uint32_t(device.CtasInClusters(2, 2) / 2)}));
}

TEST_F(RecordingTest, LaunchesFailAsTheDriversWould) {
  const Recipe recipe = RecipeOf(4);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).smem_bytes, 232448u);
}

TEST_F(RecordingTest, ErrorsOfGemmAreNamed) {
  ExpectEnd(5, RecordEnd::kReturnedError, "gemm returns cudaErrorInvalidValue");
  ExpectEnd(6, RecordEnd::kReturnedError, "gemm returns cudaErrorInvalidValue");
  const std::vector<LaunchRecord> recordings = Record(std::array{Shape{1, 5, 6}, Shape{5, 5, 6}});
  EXPECT_TRUE(recordings[0].recipe);
  EXPECT_EQ(recordings[1].end, RecordEnd::kReturnedError);
}

TEST_F(RecordingTest, LaunchesThatDependOnMoreThanTheShapeAreRefused) {
  ExpectEnd(10, RecordEnd::kRefused, "the grid of launch 1 (_Z5PlainPKvS0_Pvi) differs");
  ExpectEnd(11, RecordEnd::kRefused, "the grid of launch 1");
  ExpectEnd(12, RecordEnd::kRefused, "launches 0 kernels and memsets in one call and 1");
  ExpectEnd(13, RecordEnd::kRefused, "byte 8 of the parameters of kernel _Z5PlainPKvS0_Pvi differs");
  ExpectEnd(14, RecordEnd::kRefused, "keeps an address of C from an earlier call in byte 16");
  ExpectEnd(15, RecordEnd::kRefused, "memset 1 is of memory that is no operand's");
  ExpectEnd(16, RecordEnd::kRefused, "tensor map 1 is of memory that is no operand's");
  ExpectEnd(17, RecordEnd::kRefused, "gemm returns cudaErrorInvalidValue in one call");
}

TEST_F(RecordingTest, AnswersThatAlternateFromCallToCallShowBesideAnotherShape) {
  const std::vector<LaunchRecord> recordings = Record(std::array{Shape{12, 5, 6}, Shape{12, 2, 3}});
  for (const LaunchRecord& recording : recordings)
    EXPECT_NE(recording.reason.find("kernels and memsets in one call and"), std::string::npos)
        << recording.reason;
}

TEST_F(RecordingTest, DimensionsAreNotTakenForAddresses) {
  for (int n = 2048; n < 18000; n += 512) {
    const LaunchRecord record = Record(std::array{Shape{7, n, n}, Shape{7, n + 1, 131072}}, uint64_t(n)).at(1);
    EXPECT_TRUE(record.recipe) << record.reason;
  }
}

TEST_F(RecordingTest, WhatTheContractLacksIsNamed) {
  ExpectEnd(20, RecordEnd::kRefused, "gemm launches with a priority (launch attribute 8)");
  ExpectEnd(21, RecordEnd::kRefused, "an access policy window");
  ExpectEnd(22, RecordEnd::kRefused, "into another stream than gemm's");
  ExpectEnd(23, RecordEnd::kRefused, "asks for the driver's cuMemAlloc");
  ExpectEnd(24, RecordEnd::kRefused, "asks for device attribute 33");
  ExpectEnd(25, RecordEnd::kRefused, "");
}

TEST_F(RecordingTest, CrashesAndExitsAreNamed) {
  ExpectEnd(30, RecordEnd::kCrashed, "gemm crashes (SIGSEGV)");
  ExpectEnd(31, RecordEnd::kCrashed, "gemm crashes (SIGABRT)");
  ExpectEnd(32, RecordEnd::kCrashed, "gemm ends its process with exit code 0");
}

TEST_F(RecordingTest, AnEndlessLoopIsStopped) { ExpectEnd(33, RecordEnd::kTimedOut, "does not return within 2 s"); }

TEST_F(RecordingTest, ProcessesThreadsSocketsAndProgramsAreRefused) {
  for (const int m : {34, 35, 36, 37}) ExpectEnd(m, RecordEnd::kRefused, "a system call that no launcher needs");
}

TEST_F(RecordingTest, WordsAreDiscardedAndForgedAnswersRefused) {
  EXPECT_EQ(RecipeOf(40).steps.size(), 1u);
  for (const int m : {41, 42, 43, 44}) {
    const LaunchRecord recording = Record(m);
    EXPECT_FALSE(recording.recipe) << m;
    EXPECT_EQ(recording.reason.find('\x1b'), std::string::npos);
  }
}

TEST_F(RecordingTest, DescriptorsThatAParentLeftOpenAreClosed) {
  const int left_open = ::dup(STDERR_FILENO);
  ExpectEnd(42, RecordEnd::kRefused, "writes something else than the recorder does");
  ::close(left_open);
}

TEST_F(RecordingTest, NeitherDevicesNorDriverNorFilesAreFound) {
  const Recipe recipe = RecipeOf(50);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid.x, 1u) << "doors are open";
}

TEST_F(RecordingTest, MemoryIsBounded) {
  const Recipe recipe = RecipeOf(51);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid.x, 1u);
}

// Devices and networks are absent, beyond what the recorder's own filter hides.
TEST_F(RecordingTest, TheSandboxHasNoDevicesAndNoNetwork) {
  const std::string script =
      "ls /dev | tr '\\n' ' '; cat /proc/net/dev | wc -l; touch /tmp/x && echo tmp; touch /usr/x || echo usr; id -u";
  const auto command = SandboxedCommand(RecordingSandbox("/bin/sh"), {"sh", "-c", script});
  ASSERT_TRUE(command.ok());
  const ProcessResult result = *RunProcess(*command, std::chrono::seconds(20));
  EXPECT_EQ(result.output.find("nvidia"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("dri"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("3\n"), std::string::npos) << "only the loopback device: " << result.output;
  EXPECT_NE(result.output.find("usr\n"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace gemmsmith
