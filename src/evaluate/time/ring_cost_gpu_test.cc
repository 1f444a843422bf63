// Times the steps of a round on the ring, in brief batches; the draw includes its lead-in of 0.1 ms. Prints the table
// of docs/lab/judge.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/time/ring.h"

namespace gemmsmith {
namespace {

class RingCostGpuTest : public TestWithJudge {
 protected:
  // The fastest of five, in ms.
  double MsOf(const std::function<Status()>& step) {
    double least_ns = 0;
    for (int i = 0; i < 5; ++i) {
      Result<EventPair> events = EventPair::Make(judge_->gpu());
      EXPECT_TRUE(events.ok() && judge_->harness().LeadIn().ok());
      EXPECT_TRUE(judge_->gpu().Record(events->first).ok() && step().ok() && judge_->gpu().Record(events->last).ok());
      const Result<double> ns = judge_->gpu().ElapsedNs(events->first, events->last);
      EXPECT_TRUE(ns.ok()) << ns.status().message();
      least_ns = i == 0 ? *ns : std::min(least_ns, *ns);
    }
    return least_ns / 1e6;
  }
};

// A check reads both inputs, which the draw makes, and C.
TEST_F(RingCostGpuTest, ACheckTakesAtMostTwiceItsDraw) {
  std::puts("| problem | sets | draw, ms | before a batch, ms | check, ms |");
  for (const Shape& shape : {Shape{64, 64, 64},
                             {256, 512, 4096},
                             {16, 4096, 4096},
                             {16, 28672, 4096},
                             {4096, 4096, 4096},
                             {16384, 64, 16384},
                             {16384, 16384, 16384}}) {
    const Gemm gemm{shape, {kTn}};
    const int sets = RingPlan::For(gemm).brief_sets;
    Result<Ring> ring = Ring::Create(judge_->gpu(), judge_->harness(), gemm);
    ASSERT_TRUE(ring.ok() && ring->Add(gemm).ok() && ring->RestoreBands(sets).ok()) << Print(gemm);
    Result<DeviceMemory> fault = judge_->gpu().Allocate(sizeof(uint64_t));
    ASSERT_TRUE(fault.ok() && judge_->gpu().Fill8(fault->address(), 0, sizeof(uint64_t)).ok());
    const double draw = MsOf([&] { return ring->Draw(sets); });
    // Before C is poisoned: a fault in every element would take most of the check's time.
    const double check = MsOf([&] { return ring->PutCheck(gemm, Maker::kCandidate, sets, 0, fault->as<uint64_t>()); });
    const double before = MsOf([&] { return ring->PutBeforeBatch(sets); });
    std::puts(fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} |", Print(shape), sets, draw, before, check).c_str());
    EXPECT_LT(check, 2 * draw + 0.1) << Print(gemm);
  }
}

}  // namespace
}  // namespace gemmsmith
