// Shared objects as contenders on a GPU: they race as long as they leave their workspace as they found it.
#include <gtest/gtest.h>

#include <chrono>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "evaluate/gpu_test_fixtures.h"

namespace gemmsmith {
namespace {

const StepListener kSilent = [](const Step&) {};

// One thread an element. The first thread leaves `mark` in the workspace from the call with this number on.
std::string GemmThatDirtiesItsWorkspaceFrom(int call) {
  return fmt::format(R"(
#include <cuda_fp16.h>
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";
__device__ int calls;
__global__ void multiply(const __half* a, const __half* b, __half* c, int m, int n, int k, int* workspace) {{
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row + column == 0 && ++calls >= {}) *workspace = 1;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}}
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace, size_t,
                            cudaStream_t stream) {{
  multiply<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(
      (const __half*)a, (const __half*)b, (__half*)c, m, n, k, (int*)workspace);
  return cudaGetLastError();
}}
)",
                     call);
}

class SharedGemmGpuTest : public TestWithJudge {
 protected:
  void SetUp() override {
    TestWithJudge::SetUp();
    if (!HasJudge()) return;
    nvcc_ = FindProgram("nvcc");
    if (!nvcc_) GTEST_SKIP() << "no nvcc";
  }

  // The contender's name, as in "so:/tmp/.../late.so".
  std::string Build(const std::string& name, const std::string& text) {
    const std::filesystem::path source = folder_.path() / (name + ".cu"), object = folder_.path() / (name + ".so");
    EXPECT_TRUE(WriteFileAtomic(source, text).ok());
    const Result<ProcessResult> built =
        RunProcess({nvcc_->string(), "-shared", "-Xcompiler", "-fPIC", "-std=c++17", "-gencode",
                    "arch=compute_90a,code=sm_90a", "-o", object.string(), source.string()},
                   std::chrono::seconds(120));
    EXPECT_TRUE(built.ok() && std::filesystem::exists(object)) << (built.ok() ? built->output : "");
    return "so:" + object.string();
  }
  Outcome RaceWith(const std::string& contender) {
    ProblemMessage problem{{{{256, 256, 256}, {kTn}}, Protocol::kScreen, {Clock::kDevice}, 1}};
    problem.baselines = *BaselineSet::Parse("lt_auto_tn," + contender);
    problem.only_baselines = true;
    const Status prepared = judge_->Prepare(problem, kSilent);
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    if (!prepared.ok()) return {};
    const Result<Judgements> judgements = judge_->RaceBaselines(kSilent);
    EXPECT_TRUE(judgements.ok()) << judgements.status().message();
    return judgements.ok() ? judgements->outcomes.at(0).value() : Outcome{};
  }
  static std::string DescriptionOf(const Outcome& outcome, const std::string& contender) {
    for (const auto& [name, description] : outcome.baseline_algorithms)
      if (name == contender) return description;
    return "";
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-shared-gemm");
  std::optional<std::filesystem::path> nvcc_;
};

TEST_F(SharedGemmGpuTest, OneThatLeavesItsWorkspaceZeroedRaces) {
  const std::string tidy = Build("tidy", GemmThatDirtiesItsWorkspaceFrom(1 << 30));
  const Outcome outcome = RaceWith(tidy);
  EXPECT_NE(outcome.Find(tidy, Clock::kDevice), nullptr) << DescriptionOf(outcome, tidy);
}

TEST_F(SharedGemmGpuTest, OneThatLeavesSomethingIsRefusedBeforeAnyRace) {
  const std::string dirty = Build("dirty", GemmThatDirtiesItsWorkspaceFrom(1));
  const Outcome outcome = RaceWith(dirty);
  EXPECT_EQ(outcome.Find(dirty, Clock::kDevice), nullptr);
  EXPECT_NE(DescriptionOf(outcome, dirty).find("refused: the workspace was left with 1 words"), std::string::npos)
      << DescriptionOf(outcome, dirty);
}

TEST_F(SharedGemmGpuTest, OneThatLeavesSomethingInTheRaceIsWithdrawnFromIt) {
  const std::string late = Build("late", GemmThatDirtiesItsWorkspaceFrom(10));
  const Outcome outcome = RaceWith(late);
  EXPECT_EQ(outcome.Find(late, Clock::kDevice), nullptr);
  EXPECT_NE(outcome.Find("lt_auto_tn", Clock::kDevice), nullptr) << "the others raced";
  EXPECT_NE(DescriptionOf(outcome, late).find("refused after its race"), std::string::npos)
      << DescriptionOf(outcome, late);
  for (const Comparison& comparison : outcome.comparisons) EXPECT_NE(comparison.contender, late);
}

}  // namespace
}  // namespace gemmsmith
