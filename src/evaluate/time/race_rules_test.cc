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
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer).max_rounds, 100);
  EXPECT_EQ(RulesFor(Protocol::kLong, Clock::kOffline).min_seconds, 30);
  EXPECT_EQ(RulesFor(Protocol::kLong, Clock::kOffline).interval_width, 0) << "nothing ends it early";
}

TEST(RulesFor, LongCallsAreSettledOnTheDeviceOnly) {
  EXPECT_TRUE(IsSettled(Protocol::kShort, Clock::kDevice, 301e3));
  EXPECT_TRUE(IsSettled(Protocol::kLong, Clock::kDevice, 301e3));
  EXPECT_FALSE(IsSettled(Protocol::kShort, Clock::kDevice, 299e3));
  EXPECT_FALSE(IsSettled(Protocol::kScreen, Clock::kDevice, 301e3));
  EXPECT_FALSE(IsSettled(Protocol::kShort, Clock::kOffline, 301e3));
}

TEST(RulesFor, ASettledRaceHasEightRoundsForItsIntervalAndMoreWhereFewRace) {
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).min_rounds, 8);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).max_rounds, 20);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {5, 1e6}).max_rounds, 12);
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
