#include "evaluate/time/race_rules.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(RulesFor, AreThoseOfThePage) {
  EXPECT_EQ(RulesFor(Protocol::kScreen, Clock::kDeviceCold).max_rounds, 3);
  EXPECT_EQ(RulesFor(Protocol::kHeat, Clock::kDeviceCold).survivors, 4);
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
  EXPECT_EQ(timed_ns(Protocol::kShort, Clock::kDevice, 299e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kHeat, Clock::kDevice, 301e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kScreen, Clock::kDevice, 301e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kShort, Clock::kOffline, 301e3), 0);
  EXPECT_EQ(timed_ns(Protocol::kShort, Clock::kDeviceCold, 301e3), 0);
}

// On the ring no visit is a window: a round of long calls scatters as one of short calls does.
TEST(RulesFor, LongCallsHaveTheRoundsOfShortOnesOnTheRing) {
  for (const Protocol protocol : {Protocol::kScreen, Protocol::kHeat, Protocol::kShort}) {
    const RaceRules of_long = RulesFor(protocol, Clock::kDeviceCold, {14, 1e6}),
                    of_short = RulesFor(protocol, Clock::kDeviceCold, {14, 1e4});
    EXPECT_EQ(of_long.min_rounds, of_short.min_rounds) << Name(protocol);
    EXPECT_EQ(of_long.max_rounds, of_short.max_rounds) << Name(protocol);
    EXPECT_EQ(of_long.survivors, of_short.survivors) << Name(protocol);
  }
}

TEST(RulesFor, ASteadyStateRaceHasEightRoundsForItsIntervalAndMoreWhereFewRace) {
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).min_rounds, 8);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {2, 1e6}).max_rounds, 20);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {4, 1e6}).max_rounds, 10);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kDevice, {24, 1e6}).max_rounds, 8);
}

TEST(RulesFor, BriefRacesHaveFewRoundsOfEveryClock) {
  const auto rounds = [](Clock clock, double call_ns) {
    return RulesFor(Protocol::kShort, clock, {.entries = 4, .fastest_call_ns = call_ns, .is_brief = true}).max_rounds;
  };
  EXPECT_EQ(rounds(Clock::kDeviceCold, 1e6), 20);
  EXPECT_EQ(rounds(Clock::kDeviceCold, 1e4), 20);
  EXPECT_EQ(rounds(Clock::kOffline, 1e4), 20);
  EXPECT_EQ(rounds(Clock::kServer, 1e4), 15);
  EXPECT_EQ(rounds(Clock::kServer, 1e6), 15);
  EXPECT_EQ(RulesFor(Protocol::kHeat, Clock::kDeviceCold, {12, 1e5, true}).min_rounds, 5);
  EXPECT_LT(RulesFor(Protocol::kHeat, Clock::kDevice, {12, 1e5, true}).max_rounds,
            RulesFor(Protocol::kHeat, Clock::kDevice, {12, 1e5, false}).max_rounds / 2);
}

TEST(RulesFor, LongCallsAreServedLessOften) {
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer, {8, 1e6}).min_rounds, 20);
  EXPECT_EQ(RulesFor(Protocol::kShort, Clock::kServer, {8, 1e5}).min_rounds, 60);
}

TEST(WarmUpFor, AWarmGpuNeedsNoSecondsButForALongRun) {
  const RaceTraits traits;
  EXPECT_EQ(WarmUpFor(Protocol::kScreen, traits, false).least_seconds, 0);
  EXPECT_EQ(WarmUpFor(Protocol::kShort, traits, false).least_seconds, 0.2);
  EXPECT_EQ(WarmUpFor(Protocol::kShort, traits, true).least_seconds, 0);
  EXPECT_GT(WarmUpFor(Protocol::kShort, traits, false, true).least_seconds,
            WarmUpFor(Protocol::kShort, traits, false).least_seconds);
  EXPECT_EQ(WarmUpFor(Protocol::kShort, traits, true, true).least_seconds, 0);
  EXPECT_EQ(WarmUpFor(Protocol::kLong, traits, true).least_seconds, 10);
}

TEST(WarmUpFor, WindowsThatDecideBeginWhenTheySwingNoMore) {
  EXPECT_GE(WarmUpFor(Protocol::kShort, {12, 1e6}, false, true).most_seconds_until_steady, 5);
  EXPECT_GE(WarmUpFor(Protocol::kShort, {12, 1e6}, true, true).most_seconds_until_steady, 5) << "warm is not steady";
  EXPECT_EQ(WarmUpFor(Protocol::kShort, {12, 1e5}, false, false).most_seconds_until_steady, 0);
  EXPECT_EQ(WarmUpFor(Protocol::kHeat, {12, 1e5}, true, false).most_seconds_until_steady, 0);
}

TEST(WarmUpFor, AHeatOfCallsThatDrawMuchBringsTheGpuToItsCapFirst) {
  EXPECT_GT(WarmUpFor(Protocol::kHeat, {12, 50e3}, true).least_seconds, 0.05);
  EXPECT_EQ(WarmUpFor(Protocol::kHeat, {12, 5e3}, false).least_seconds, 0);
}

}  // namespace
}  // namespace gemmsmith
