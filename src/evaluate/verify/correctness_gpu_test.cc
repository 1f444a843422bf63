// The tests on a GPU. A kernel with a sum in f16 is refused by its numbers alone at every K of the grid. Every family
// passes every test.
#include <gtest/gtest.h>

#include <set>

#include "base/all_cores.h"
#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/verify/narrow_test_kernels.h"
#include "problem/grids.h"
#include "program/covering.h"

namespace gemmsmith {
namespace {

class CorrectnessGpuTest : public TestWithWorker {
 protected:
  static void SetUpTestSuite() { StartWorker(); }
  void SetUp() override {
    TestWithWorker::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (evaluator_->device().compute_capability() != 90) GTEST_SKIP() << "no Hopper GPU";
  }

  // Every test and no times; a plan of 128 threads a block stands for whatever is launched with its geometry.
  static EvaluationRequest RequestFor(const Gemm& gemm) {
    EvaluationRequest request;
    request.gemm = gemm;
    request.subject = *ParsePlan("direct tile_m=64 tile_n=64 warps_m=2 warps_n=2 warps_k=1 split=1");
    request.protocol = Protocol::kShort;
    request.seed = 5;
    request.time = false;
    return request;
  }
};

std::set<int> DepthsOfGrid() {
  std::set<int> depths;
  if (const Result<std::vector<Shape>> grid = LoadShapes("paper1000"); grid.ok())
    for (const Shape& shape : *grid) depths.insert(shape.k);
  return depths;
}

TEST_F(CorrectnessGpuTest, WhoeverHoldsASumInF16IsRefusedByCancellationAtEveryDepthOfTheGrid) {
  const std::pair<const char*, PreparedCandidate> narrow[] = {
      {"mma", Compiled(MmaKernel(false))},
      {"wgmma", Compiled(WgmmaKernel(false))},
      {"plain", Compiled(PlainKernel(PlainSum::kNarrow))},
      {"f16 between blocks of 32", Compiled(PlainKernel(PlainSum::kNarrowBlocks))}};
  for (const int k : DepthsOfGrid()) {
    EvaluationRequest request = RequestFor({{64, 64, k}, {kTn}});
    request.tests = *ParseTestSet("cancellation");
    for (const auto& [name, candidate] : narrow) {
      const Outcome outcome = Judge(request, candidate);
      EXPECT_EQ(outcome.kind, OutcomeKind::kWrong) << name << " at K = " << k;
      EXPECT_NE(outcome.reason.find("test cancellation"), std::string::npos) << name << ": " << outcome.reason;
    }
  }
}

TEST_F(CorrectnessGpuTest, TheSameKernelsWithAnF32AccumulatorPassEveryTest) {
  for (const int k : {64, 1024, 16384}) {
    const EvaluationRequest request = RequestFor({{64, 64, k}, {kTn}});
    for (const Source& source : {MmaKernel(true), WgmmaKernel(true), PlainKernel(PlainSum::kWide)}) {
      const Outcome outcome = Judge(request, Compiled(source));
      EXPECT_EQ(outcome.kind, OutcomeKind::kVerified) << "K = " << k << ": " << outcome.reason;
    }
  }
}

// And so does one that accumulates in more.
TEST_F(CorrectnessGpuTest, KernelsThatAccumulateInF16PassWhereTheProblemSaysSo) {
  const GemmKind f16_sums{kTn, ScalarType::kF16, Accumulation::kF16};
  for (const int k : {64, 1024, 16384}) {
    EvaluationRequest request = RequestFor({{64, 64, k}, f16_sums});
    for (const Source& source : {MmaKernel(false), WgmmaKernel(false), PlainKernel(PlainSum::kWide)}) {
      const Outcome outcome = Judge(request, Compiled(source));
      EXPECT_EQ(outcome.kind, OutcomeKind::kVerified) << "K = " << k << ": " << outcome.reason;
    }
    request.subject =
        *ParsePlan(fmt::format("wgmma tile_m=64 tile_n=64 warpgroups=1 stages={}", k == 64 ? "resident" : "4"));
    request.certify = true;
    const Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    const Outcome outcome = Judge(request, *candidate);
    EXPECT_EQ(outcome.kind, OutcomeKind::kVerified) << "K = " << k << ": " << outcome.reason;
  }
}

// The same machine code reads B too early where B is not promised to be constant.
TEST_F(CorrectnessGpuTest, AKernelForAConstantBPassesThatProblemAndNoOther) {
  EvaluationRequest request = RequestFor({{16, 4096, 4096}, {.constant_b = true}});
  request.subject = *ParsePlan(
      "wgmma tile_m=16 tile_n=64 roles=swapped warpgroups=1 step_k=128 stages=5 split=2 reduction=cluster "
      "trigger=early");
  const Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  const Outcome right = Judge(request, *candidate);
  EXPECT_EQ(right.kind, OutcomeKind::kVerified) << right.reason;
  request.gemm.kind.constant_b = false;
  const Outcome early = Judge(request, *candidate);
  EXPECT_EQ(early.kind, OutcomeKind::kWrong);
  EXPECT_NE(early.reason.find("test chain"), std::string::npos) << early.reason;
}

TEST_F(CorrectnessGpuTest, EveryFamilyPassesEveryTest) {
  const GemmKind f16_sums{kTn, ScalarType::kF16, Accumulation::kF16}, constant_b{.constant_b = true};
  for (const Gemm& gemm : {Gemm{{256, 384, 768}}, Gemm{{200, 136, 328}, {kNn, ScalarType::kBf16}},
                           Gemm{{64, 128, 16384}, {kTn, ScalarType::kBf16}}, Gemm{{16, 512, 4096}, constant_b},
                           Gemm{{40, 200, 1096}, constant_b}, Gemm{{17, 31, 63}, {kNn}}, Gemm{{2056, 1544, 328}, {kNn}},
                           Gemm{{256, 384, 4096}, f16_sums}, Gemm{{2056, 1544, 328}, f16_sums}}) {
    const std::vector<Plan> plans = CoveringPlans(gemm, evaluator_->device(), 3);
    std::vector<Candidate> contenders(plans.size());
    ForEachOnAllCores(plans.size(), [&](size_t at) {
      EvaluationRequest request = RequestFor(gemm);
      request.subject = plans[at];
      Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
      EXPECT_TRUE(candidate.ok()) << candidate.status().message();
      contenders[at] = {request, candidate.ok() ? *std::move(candidate) : PreparedCandidate{.ended = Outcome{}}};
    });
    const std::vector<Result<Outcome>> outcomes = evaluator_->EvaluateTogether(contenders);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const std::string name = Print(gemm) + " | " + Print(plans[i]);
      ASSERT_TRUE(outcomes[i].ok()) << name << ": " << outcomes[i].status().message();
      if (outcomes[i]->kind == OutcomeKind::kResourceOver) continue;
      EXPECT_EQ(outcomes[i]->kind, OutcomeKind::kVerified) << name << ": " << outcomes[i]->reason;
      std::set<std::string> tests;
      for (const TestRecord& test : outcomes[i]->verdict.tests) {
        EXPECT_TRUE(test.passed) << name << ": " << test.test;
        tests.insert(test.test);
      }
      for (const char* test : {"binary", "relative", "uniform", "special", "repeat"})
        EXPECT_TRUE(tests.contains(test)) << name << ": " << test;
      const bool is_wide = gemm.kind.accumulation == Accumulation::kF32;
      EXPECT_EQ(tests.contains("cancellation"), is_wide) << name;
      EXPECT_EQ(tests.contains("dense_binary"), is_wide || gemm.shape.k <= 2048) << name;
    }
  }
}

// A last bit that comes and goes is within every bound: only the claim of equal bits is broken.
TEST_F(CorrectnessGpuTest, OtherBitsThanTheFirstTimeAreRefusedWhereEqualOnesAreClaimed) {
  EvaluationRequest request = RequestFor({{64, 64, 256}, {kTn}});
  request.tests = *ParseTestSet("repeat");
  const Outcome outcome = Judge(request, Compiled(FlippingKernel()));
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrong);
  EXPECT_NE(outcome.reason.find("other bits than the first"), std::string::npos) << outcome.reason;
}

// The second is more than one block of the CPU's either way.
TEST_F(CorrectnessGpuTest, ACertificateHasTheErrorsOfTheBaselinesAndItsOwn) {
  for (const Shape& shape : {Shape{300, 200, 1000}, Shape{2100, 4160, 136}}) {
    EvaluationRequest request = RequestFor({shape, {kNn}});
    request.certify = true;
    const Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    const Outcome outcome = Judge(request, *candidate);
    ASSERT_EQ(outcome.kind, OutcomeKind::kVerified) << Print(shape) << ": " << outcome.reason;
    EXPECT_GT(outcome.verdict.baseline_max_abs_error, 0) << Print(shape);
    ASSERT_FALSE(outcome.verdict.tests.empty());
    const TestRecord& last = outcome.verdict.tests.back();
    EXPECT_EQ(last.test, "certified");
    EXPECT_GT(last.max_abs_error, 0) << Print(shape);
    // The CPU and the harness's kernel compare the same output with the same product.
    EXPECT_FLOAT_EQ(float(last.max_abs_error), float(outcome.verdict.max_abs_error)) << Print(shape);
  }
}

}  // namespace
}  // namespace gemmsmith
