#include "search/pace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

const Plan kSmall = *ParsePlan("wgmma schedule=pingpong tile_m=128 tile_n=128"),
           kUsual = *ParsePlan("wgmma schedule=cooperative tile_m=128 tile_n=256"),
           kLarge = *ParsePlan("wgmma schedule=cooperative tile_m=256 tile_n=192");

Outcome AgainstAutoTuning(double time_ns, double share) {
  Outcome outcome = MeasuredOutcome(time_ns);
  outcome.protocol = Protocol::kScreen;
  outcome.comparisons.push_back({.baseline = "lt_auto_nn", .clock = Clock::kDevice, .ratio = {.median = 1 / share}});
  return outcome;
}

TEST(SteadyStateFactorTest, LongCallsWithLessOperandTrafficAreFaster) {
  EXPECT_EQ(SteadyStateFactor(kUsual, 2e6), 1);
  EXPECT_NEAR(SteadyStateFactor(kSmall, 2e6), std::exp(0.09 * 0.5), 1e-12);
  EXPECT_NEAR(SteadyStateFactor(kLarge, 2e6), std::exp(-0.09 / 3), 1e-12);
  EXPECT_EQ(SteadyStateFactor(kSmall, 2e6), SteadyStateFactor(kSmall, 20e6));
}

TEST(SteadyStateFactorTest, IsOneForShortCallsAndDirectKernels) {
  EXPECT_EQ(SteadyStateFactor(kSmall, 300e3), 1);
  EXPECT_EQ(SteadyStateFactor(kLarge, 5e3), 1);
  EXPECT_EQ(SteadyStateFactor(Plan{FamilyId::kDirect}, 2e6), 1);
  EXPECT_GT(SteadyStateFactor(kSmall, 320e3), 1);
  EXPECT_LT(SteadyStateFactor(kSmall, 320e3), SteadyStateFactor(kSmall, 380e3));
}

TEST(SteadyStateFactorTest, KeepsTheOrderOfTimes) {
  double last_ns = 0;
  for (double call_ns = 250e3; call_ns < 500e3; call_ns *= 1.001) {
    const double settled_ns = call_ns * SteadyStateFactor(kLarge, call_ns);
    EXPECT_GT(settled_ns, last_ns) << call_ns;
    last_ns = settled_ns;
  }
}

TEST(PaceTest, ComparesKernelsOfDifferentRacesByTheirTimesOverAutoTunings) {
  Pace pace;
  EXPECT_DOUBLE_EQ(pace.TimeNs(kUsual, AgainstAutoTuning(1000, 0.5)), 1000);
  EXPECT_DOUBLE_EQ(pace.TimeNs(kUsual, AgainstAutoTuning(1500, 0.6)), 1200);
}

TEST(PaceTest, CallsOfAScreeningGetTheirSteadyStateFactorWhereRacesSettle) {
  Outcome in_turns = AgainstAutoTuning(2e6, 1);
  EXPECT_DOUBLE_EQ(Pace().TimeNs(kSmall, in_turns), 2e6);
  EXPECT_DOUBLE_EQ(Pace(true).TimeNs(kSmall, in_turns), 2e6 * SteadyStateFactor(kSmall, 2e6));
  in_turns.protocol = Protocol::kHeat;
  EXPECT_DOUBLE_EQ(Pace(true).TimeNs(kSmall, in_turns), 2e6 * SteadyStateFactor(kSmall, 2e6));
  in_turns.conditions.in_steady_state = true;
  EXPECT_DOUBLE_EQ(Pace(true).TimeNs(kSmall, in_turns), 2e6);
}

}  // namespace
}  // namespace gemmsmith
