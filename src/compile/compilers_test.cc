// Both compilers on the same texts: what compiles, what does not, and in which words.
#include <gtest/gtest.h>

#include <thread>

#include "base/installation.h"
#include "compile/compiler.h"
#include "compile/facts.h"

namespace gemmsmith {
namespace {

constexpr const char* kGood = R"(extern "C" __global__ void twice(float* p) { p[threadIdx.x] *= 2; })";

class BothCompilers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto made = GetParam() == std::string("nvrtc") ? MakeNvrtcCompiler() : MakeNvccCompiler();
    if (!made.ok() && GetParam() == std::string("nvcc")) GTEST_SKIP() << made.status().message();
    ASSERT_TRUE(made.ok()) << made.status().message();
    compiler_ = *std::move(made);
  }
  Compilation Compile(const Source& source, std::string_view architecture = "sm_90a") {
    auto compilation = compiler_->Compile(source, architecture);
    EXPECT_TRUE(compilation.ok()) << compilation.status().message();
    return compilation.ok() ? *compilation : Compilation{};
  }
  std::unique_ptr<Compiler> compiler_;
};

TEST_P(BothCompilers, GoodTextBecomesABinaryWithFacts) {
  const Compilation compilation = Compile({kGood, "twice"});
  ASSERT_TRUE(compilation.succeeded) << compilation.log;
  EXPECT_EQ(compilation.binary.entry, "twice");
  EXPECT_GT(compilation.binary.facts.instructions, 3);
  EXPECT_EQ(*ReadCodeFacts(compilation.binary.cubin, "twice"), compilation.binary.facts);
  EXPECT_GT(compilation.seconds, 0);
  EXPECT_FALSE(compilation.from_cache);
}

TEST_P(BothCompilers, ErrorsNameTheLine) {
  const Compilation compilation = Compile({"\n\nextern \"C\" __global__ void f() { unknown_name = 1; }\n", "f"});
  EXPECT_FALSE(compilation.succeeded);
  EXPECT_TRUE(compilation.binary.cubin.empty());
  EXPECT_NE(compilation.log.find("kernel.cu(3)"), std::string::npos) << compilation.log;
  EXPECT_NE(compilation.log.find("unknown_name"), std::string::npos) << compilation.log;
}

TEST_P(BothCompilers, LogsAreTheSameFromRunToRun) {
  const Source source{"extern \"C\" __global__ void f() { unknown_name = 1; }", "f"};
  EXPECT_EQ(Compile(source).log, Compile(source).log);
}

TEST_P(BothCompilers, WarningsOfGoodTextAreInTheLog) {
  const Compilation compilation = Compile({"extern \"C\" __global__ void f(int* p) { int unused; p[0] = 1; }", "f"});
  EXPECT_TRUE(compilation.succeeded);
  EXPECT_NE(compilation.log.find("unused"), std::string::npos) << compilation.log;
}

TEST_P(BothCompilers, WrongMachineInstructionIsACompileError) {
  const Compilation compilation =
      Compile({"extern \"C\" __global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }", "f"}, "sm_80");
  EXPECT_FALSE(compilation.succeeded);
  EXPECT_NE(compilation.log.find("wgmma"), std::string::npos) << compilation.log;
}

TEST_P(BothCompilers, TooMuchStaticSharedMemoryIsACompileError) {
  const Compilation compilation = Compile(
      {"extern \"C\" __global__ void f(int* p) { __shared__ int x[60000]; x[p[0]] = 1; p[1] = x[p[2]]; }", "f"});
  EXPECT_FALSE(compilation.succeeded);
  EXPECT_FALSE(compilation.log.empty());
}

TEST_P(BothCompilers, MissingEntryIsACompileErrorThatNamesIt) {
  const Compilation compilation = Compile({kGood, "thrice"});
  EXPECT_FALSE(compilation.succeeded);
  EXPECT_NE(compilation.log.find("thrice"), std::string::npos) << compilation.log;
  EXPECT_TRUE(compilation.binary.cubin.empty());
}

TEST_P(BothCompilers, EmptyTextIsACompileError) { EXPECT_FALSE(Compile({"", "f"}).succeeded); }

TEST_P(BothCompilers, ArchitecturesThatAreNoneAreRefused) {
  for (const char* architecture : {"", "sm_", "90a", "sm_9", "sm_90x", "sm_90a --x", "sm_1234", "compute_90"}) {
    const auto compilation = compiler_->Compile({kGood, "twice"}, architecture);
    EXPECT_EQ(compilation.status().code(), StatusCode::kInvalidArgument) << architecture;
  }
}

TEST_P(BothCompilers, IdentityHasNameVersionAndFlags) {
  const std::string identity = compiler_->Identity();
  EXPECT_TRUE(identity.starts_with(std::string(GetParam()) + " 13.")) << identity;
  EXPECT_NE(identity.find("-DNDEBUG"), std::string::npos) << identity;
}

INSTANTIATE_TEST_SUITE_P(, BothCompilers, testing::Values("nvrtc", "nvcc"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(NvrtcCompiler, RefusesAGpuItCannotCompileFor) {
  auto compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  const auto compilation = (*compiler)->Compile({kGood, "twice"}, "sm_35");
  EXPECT_EQ(compilation.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(compilation.status().message().find("sm_35"), std::string::npos);
}

TEST(NvrtcCompiler, ManyThreadsCompileAtOnce) {
  auto compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  std::vector<Compilation> made(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < made.size(); ++i)
    threads.emplace_back([&, i] {
      const std::string entry = "kernel_" + std::to_string(i);
      auto compilation = (*compiler)->Compile(
          {"extern \"C\" __global__ void " + entry + "(int* p) { p[0] = " + std::to_string(i) + "; }", entry},
          "sm_90a");
      if (compilation.ok()) made[i] = *std::move(compilation);
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_TRUE(made[i].succeeded) << made[i].log;
    EXPECT_EQ(made[i].binary.entry, "kernel_" + std::to_string(i));
  }
}

// The direct path to every emitted kernel: our headers are found though they are in no folder.
TEST(NvrtcCompiler, DeviceHeadersAreIncludedFromMemory) {
  auto compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  ASSERT_FALSE(DeviceHeaders().empty());
  for (const DeviceHeader& header : DeviceHeaders()) {
    if (header.name.starts_with("launch_")) continue;  // the host's side of standalone files, for nvcc
    const std::string text =
        fmt::format("#include \"{}\"\nextern \"C\" __global__ void f(int* p) {{ p[0] = 1; }}\n", header.name);
    const auto compilation = (*compiler)->Compile({text, "f"}, "sm_90a");
    ASSERT_TRUE(compilation.ok()) << compilation.status().message();
    EXPECT_TRUE(compilation->succeeded) << compilation->log;
  }
}

}  // namespace
}  // namespace gemmsmith
