// What the compilers make of the direct family, on every architecture it is legal for.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "compile/compiler.h"
#include "program/covering.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

std::unique_ptr<Compiler> Nvrtc() {
  static const std::filesystem::path folder = std::filesystem::temp_directory_path() / "gemmsmith_direct_kernels_test";
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  return compiler.ok() ? MakeCachedCompiler(*std::move(compiler), folder) : nullptr;
}

class DirectOnEveryDevice : public testing::TestWithParam<std::string> {};

TEST_P(DirectOnEveryDevice, CoveringPlansCompileToF32MatrixInstructionsAndStayInRegisters) {
  const std::unique_ptr<Compiler> compiler = Nvrtc();
  ASSERT_NE(compiler, nullptr) << "no libnvrtc";
  const Device device = *FindDevice(GetParam());
  int plans = 0, spilling = 0;
  for (const Gemm& gemm : {Gemm{{64, 64, 2048}}, Gemm{{17, 31, 63}, {kNn, ScalarType::kBf16}}})
    for (const Plan& plan : CoveringPlans(gemm, device, 2)) {
      const Compilation compilation = *compiler->Compile(Emit(plan, gemm), device.Architecture());
      ASSERT_TRUE(compilation.succeeded) << Print(plan) << "\n" << compilation.log;
      const CodeFacts& facts = compilation.binary.facts;
      EXPECT_EQ(compilation.log, "") << Print(plan);
      EXPECT_EQ(facts.local_bytes > 0, facts.local_memory_instructions > 0) << Print(plan);
      ++plans;
      spilling += facts.local_bytes > 0;
      EXPECT_GT(facts.mma_f32, 0) << Print(plan);
      EXPECT_EQ(facts.mma_f16 + facts.wgmma_f16, 0) << Print(plan);
    }
  // ptxas needs a few registers more for sm_120 than the legality's estimate leaves; such a plan ends as ResourceOver
  // there.
  EXPECT_LE(spilling, device.compute_major < 12 ? 0 : plans / 5);
}
INSTANTIATE_TEST_SUITE_P(, DirectOnEveryDevice, testing::Values("a100", "l40s", "h200", "rtx5090"),
                         [](const auto& device) { return device.param; });

// nvcc needs a host compiler and headers, and takes its time: one plan with everything in it.
TEST(Standalone, CompilesWithNvccAsOneFile) {
  const std::optional<std::filesystem::path> nvcc = FindProgram("nvcc");
  if (!nvcc) GTEST_SKIP() << "no nvcc";
  const TemporaryFolder folder = *TemporaryFolder::Create("standalone");
  const Gemm gemm{{64, 64, 2048}, {kNn, ScalarType::kBf16}};
  const std::filesystem::path source = folder.path() / "gemm.cu";
  ASSERT_TRUE(WriteFileAtomic(source, EmitStandalone(*ParsePlan("direct split=4 reduction=ordered"), gemm)).ok());
  const ProcessResult result =
      *RunProcess({nvcc->string(), "-std=c++17", "-Werror=all-warnings", "-gencode", "arch=compute_90a,code=sm_90a",
                   "-c", source.string(), "-o", (folder.path() / "gemm.o").string()},
                  std::chrono::seconds(120));
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

}  // namespace
}  // namespace gemmsmith
