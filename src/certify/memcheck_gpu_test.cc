// compute-sanitizer on kernels whose faults are known.
#include "certify/memcheck.h"

#include <gtest/gtest.h>

#include "base/installation.h"
#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/verify/narrow_test_kernels.h"

namespace gemmsmith {
namespace {

class MemcheckGpuTest : public TestWithWorker {
 protected:
  static void SetUpTestSuite() { StartWorker(); }
  void SetUp() override {
    TestWithWorker::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (evaluator_->device().compute_capability() != 90) GTEST_SKIP() << "no Hopper GPU";
    if (!FindProgram("compute-sanitizer")) GTEST_SKIP() << "there is no compute-sanitizer";
  }
};

TEST_F(MemcheckGpuTest, FindsAReadThatNoNumberShows) {
  const IsolationOptions options{.worker_program = ProgramBesideTests().string()};
  EvaluationRequest request;
  request.gemm = {{64, 64, 128}, {kTn}};
  request.subject = *ParsePlan("direct tile_m=64 tile_n=64 warps_m=2 warps_n=2 warps_k=1 split=1");
  request.protocol = Protocol::kShort;
  request.seed = 5;
  request.time = false;
  const Result<PreparedCandidate> honest = Prepare(request, evaluator_->device(), *compiler_);
  ASSERT_TRUE(honest.ok());
  const MemcheckResult clean = RunMemcheck({request, *honest}, evaluator_->device(), options);
  ASSERT_TRUE(clean.ok()) << clean.status().message();
  EXPECT_FALSE(clean->has_value()) << (*clean)->reason;

  const PreparedCandidate curious = Compiled(CuriousKernel());
  EXPECT_EQ(Judge(request, curious).kind, OutcomeKind::kVerified) << "no test sees a read";
  const MemcheckResult found = RunMemcheck({request, curious}, evaluator_->device(), options);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->kind, OutcomeKind::kWrong);
  EXPECT_EQ((*found)->stage, "memcheck");
  EXPECT_NE((*found)->reason.find("Invalid __global__ read"), std::string::npos) << (*found)->reason;

  const std::vector<Candidate> both = {{request, *honest}, {request, curious}, {request, *honest}};
  const std::vector<MemcheckResult> together = RunMemcheckTogether(both, evaluator_->device(), options);
  ASSERT_EQ(together.size(), 3u);
  for (const MemcheckResult& result : together) ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FALSE(together[0]->has_value());
  ASSERT_TRUE(together[1]->has_value());
  EXPECT_EQ((*together[1])->kind, OutcomeKind::kWrong);
  EXPECT_EQ((*together[1])->stage, "memcheck");
  EXPECT_NE((*together[1])->reason.find("Invalid __global__ read"), std::string::npos) << "but for its addresses";
  EXPECT_FALSE(together[2]->has_value());
  for (const MemcheckResult& result : RunMemcheckTogether({&both[0], 1}, evaluator_->device(), options))
    EXPECT_TRUE(result.ok() && !result->has_value());
}

}  // namespace
}  // namespace gemmsmith
