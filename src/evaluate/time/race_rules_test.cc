#include "evaluate/time/race_rules.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(RulesFor, AreThoseOfThePage) {
  EXPECT_EQ(RulesFor(Protocol::kScreen, Clock::kDevice).max_rounds, 5);
  EXPECT_EQ(RulesFor(Protocol::kHeat, Clock::kDevice).survivors, 4);
  for (const Clock clock : {Clock::kDevice, Clock::kOffline, Clock::kHost, Clock::kDeviceCold}) {
    const RaceRules rules = RulesFor(Protocol::kShort, clock);
    EXPECT_EQ(rules.min_rounds, 10);
    EXPECT_EQ(rules.max_rounds, 100);
    EXPECT_EQ(rules.interval_width, 0.02);
  }
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer).min_rounds, 60);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer).max_rounds, 60);
  EXPECT_EQ(RulesFor(Protocol::kLong, Clock::kOffline).min_seconds, 30);
  EXPECT_EQ(RulesFor(Protocol::kLong, Clock::kOffline).interval_width, 0) << "nothing ends it early";
}

TEST(WindowFor, LongCallsHaveOneOnTheDeviceAlone) {
  const auto timed_ns = [](Protocol protocol, Clock clock, double call_ns) {
    const std::optional<Window> window = WindowFor(protocol, clock, call_ns);
    return window ? window->timed_ns : 0;
  };
  EXPECT_GE(timed_ns(Protocol::kShort, Clock::kDevice, 301e3), 100e6);
  EXPECT_GE(timed_ns(Protocol::kLong, Clock::kDevice, 301e3), 100e6);
  EXPECT_EQ(timed_ns(Protocol::kHeat, Clock::kDevice, 301e3), kShortWindow.timed_ns);
  EXPECT_EQ(timed_ns(Protocol::kShort, Clock::kDevice, 299e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kHeat, Clock::kDevice, 299e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kScreen, Clock::kDevice, 301e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kShort, Clock::kOffline, 301e3), 0);
}

TEST(RulesFor, AHeatOfWindowsHasFewRounds) {
  EXPECT_EQ(RulesFor(Protocol::kHeat, Clock::kDevice, {12, 1e6}).min_rounds, 3);
  EXPECT_EQ(RulesFor(Protocol::kHeat, Clock::kDevice, {12, 1e5}).min_rounds, 5);
}

TEST(RulesFor, ASettledRaceHasEightRoundsForItsIntervalAndMoreWhereFewRace) {
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).min_rounds, 8);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).max_rounds, 20);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {4, 1e6}).max_rounds, 10);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {24, 1e6}).max_rounds, 8);
}

TEST(RulesFor, LongCallsAreServedLessOften) {
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer, {8, 1e6}).min_rounds, 20);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer, {8, 1e5}).min_rounds, 60);
}

TEST(WarmUpSeconds, AWarmGpuNeedsNoneButForALongRun) {
  const Field field;
  EXPECT_EQ(WarmUpSeconds(Protocol::kScreen, field, false), 0);
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, field, false), 0.2);
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, field, true), 0);
  EXPECT_GT(WarmUpSeconds(Protocol::kShort, field, false, true), WarmUpSeconds(Protocol::kShort, field, false));
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, field, true, true), 0);
  EXPECT_EQ(WarmUpSeconds(Protocol::kLong, field, true), 10);
}

TEST(WarmUpSeconds, AHeatOfCallsThatDrawMuchBringsTheGpuToItsCapFirst) {
  EXPECT_GT(WarmUpSeconds(Protocol::kHeat, {12, 50e3}, true), 0.05);
  EXPECT_EQ(WarmUpSeconds(Protocol::kHeat, {12, 5e3}, false), 0);
}

}  // namespace
}  // namespace gemmsmith
