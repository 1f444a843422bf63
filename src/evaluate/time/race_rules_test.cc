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

TEST(RulesFor, ASettledRaceHasSixRoundsForItsIntervalAndAnEnd) {
  const RaceRules settled = RulesFor(Protocol::kShort, Clock::kDevice, true);
  EXPECT_GE(settled.min_rounds, 6);
  EXPECT_LT(settled.max_rounds, RulesFor(Protocol::kShort, Clock::kDevice).max_rounds);
}

TEST(WarmUpSeconds, AWarmGpuNeedsNoneButForALongRun) {
  EXPECT_EQ(WarmUpSeconds(Protocol::kScreen, false), 0);
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, false), 0.2);
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, true), 0);
  EXPECT_GT(WarmUpSeconds(Protocol::kShort, false, true), WarmUpSeconds(Protocol::kShort, false));
  EXPECT_EQ(WarmUpSeconds(Protocol::kShort, true, true), 0);
  EXPECT_EQ(WarmUpSeconds(Protocol::kLong, true), 10);
}

}  // namespace
}  // namespace gemmsmith
