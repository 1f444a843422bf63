#include "evaluate/time/device_clock.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(CallsIn, FillTheBatch) {
  for (const double call_ns : {3e3, 9.9e3, 80e3, 140e3, 151e3, 10e6}) {
    EXPECT_GE(CallsIn(Batch::kBrief, call_ns) * call_ns, 0.15e6) << call_ns;
    EXPECT_LT((CallsIn(Batch::kBrief, call_ns) - 1) * call_ns, 0.15e6) << call_ns;
  }
  EXPECT_EQ(CallsIn(Batch::kBrief, 80e3), 2);
}

TEST(CallsIn, HasItsLimits) {
  EXPECT_EQ(CallsIn(Batch::kBrief, 0), 100);
  EXPECT_EQ(CallsIn(Batch::kBrief, 10e6), 1);
  EXPECT_EQ(CallsIn(Batch::kLong, 0), 200);
  EXPECT_EQ(CallsIn(Batch::kLong, 10e6), 3);
}

TEST(SteadyStateVisit, IsTimedForATenthOfASecondAlsoWhereTheEstimateIsAFifthTooLong) {
  for (const double call_ns : {301e3, 900e3, 12e6, 2e9}) {
    const CallGraph graph{{}, CallsIn(Batch::kLong, call_ns)};
    const Visit visit = VisitFor(graph, call_ns, kSteadyStateWindow);
    const double graph_ns = call_ns * graph.calls;
    EXPECT_GE(visit.timed_replays * graph_ns / 1.2, 0.1e9) << call_ns;
    EXPECT_GE(visit.untimed_replays * graph_ns, 0.02e9) << call_ns;
    EXPECT_LE((visit.timed_replays - 1) * graph_ns, 0.12e9) << call_ns;
  }
}

}  // namespace
}  // namespace gemmsmith
