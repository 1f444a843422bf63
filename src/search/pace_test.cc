#include "search/pace.h"

#include <gtest/gtest.h>

#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

Outcome AgainstAutoTuning(double time_ns, double share) {
  Outcome outcome = MeasuredOutcome(time_ns);
  outcome.comparisons.push_back(
      {.baseline = "lt_auto_nn", .clock = Clock::kDeviceCold, .ratio = {.median = 1 / share}});
  return outcome;
}

TEST(PaceTest, ComparesKernelsOfDifferentRacesByTheirTimesOverAutoTunings) {
  Pace pace;
  EXPECT_DOUBLE_EQ(pace.TimeNs(AgainstAutoTuning(1000, 0.5)), 1000);
  EXPECT_DOUBLE_EQ(pace.TimeNs(AgainstAutoTuning(1500, 0.6)), 1200);
}

TEST(PaceTest, ATimeWithoutAutoTuningIsItsOwn) { EXPECT_DOUBLE_EQ(Pace().TimeNs(MeasuredOutcome(2e6)), 2e6); }

TEST(PaceTest, ComparisonsOnAnotherClockSayNothing) {
  Pace pace;
  Outcome outcome = AgainstAutoTuning(1000, 0.5);
  outcome.comparisons.push_back({.baseline = "lt_auto_tn", .clock = Clock::kDevice, .ratio = {.median = 9}});
  EXPECT_DOUBLE_EQ(pace.TimeNs(outcome), 1000);
  EXPECT_DOUBLE_EQ(pace.TimeNs(AgainstAutoTuning(1500, 0.6)), 1200);
}

}  // namespace
}  // namespace gemmsmith
