#include "evaluate/time/pairing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace gemmsmith {
namespace {

const std::vector<RaceEntry> kThree = {{"ours", false}, {"lt_auto_nn", true}, {"cublas_nn", false}};

// Contenders of 100, 120 and 50 us whose common clock drifts by the factor of `drift(round)`.
TimeRound Drifting(int& rounds, std::function<double(int)> drift) {
  return [&rounds, drift](std::span<const size_t> order) -> Result<std::vector<double>> {
    EXPECT_EQ(std::set<size_t>(order.begin(), order.end()), (std::set<size_t>{0, 1, 2}));
    const double factor = drift(rounds++);
    return std::vector<double>{100e3 * factor, 120e3 * factor, 50e3 * factor};
  };
}

Result<RaceResult> RunRace(const RaceRules& rules, const ReadCondition& read, const TimeRound& round) {
  Random random(3);
  return Race(kThree, rules, Clock::kDevice, random, read, round);
}

TEST(Race, RatiosComeFromPairsSoThatDriftCancels) {
  int rounds = 0;
  const Result<RaceResult> race = RunRace({40, 40, 0}, {}, Drifting(rounds, [](int i) { return 1 + 0.02 * i; }));
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(rounds, 40);
  ASSERT_EQ(race->comparisons.size(), 2u);
  EXPECT_EQ(race->comparisons[0].baseline, "lt_auto_nn");
  EXPECT_NEAR(race->comparisons[0].ratio.median, 1.2, 1e-9);
  EXPECT_NEAR(race->comparisons[0].ratio.interval.Width(), 0, 1e-9);
  EXPECT_NEAR(race->comparisons[1].ratio.median, 0.5, 1e-9);
  EXPECT_EQ(race->timings[0].contender, "ours");
  EXPECT_EQ(race->timings[0].sample_count, 40);
  EXPECT_EQ(race->timings[0].samples_ns.size(), 40u);
}

TEST(Race, StopsWhenTheRatioAgainstTheRivalIsKnown) {
  int rounds = 0;
  ASSERT_TRUE(RunRace({10, 100, 0.02}, {}, Drifting(rounds, [](int) { return 1.0; })).ok());
  EXPECT_EQ(rounds, 10);
}

TEST(Race, NoisyContendersGetEveryRound) {
  int rounds = 0;
  Random noise(1);
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    ++rounds;
    return std::vector<double>{100e3 * (1 + noise.Uniform()), 100e3 * (1 + noise.Uniform()), 1};
  };
  ASSERT_TRUE(RunRace({10, 100, 0.02}, {}, round).ok());
  EXPECT_EQ(rounds, 100);
}

TEST(Race, OutliersDoNotMoveTheMedians) {
  int rounds = 0;
  const Result<RaceResult> race =
      RunRace({50, 50, 0}, {}, Drifting(rounds, [](int i) { return i % 5 == 0 ? 9.0 : 1.0; }));
  ASSERT_TRUE(race.ok());
  EXPECT_NEAR(race->timings[0].median_ns, 100e3, 1e-6);
  EXPECT_NEAR(race->comparisons[0].ratio.median, 1.2, 1e-9);
}

TEST(Race, RoundsUnderASlowDownAreDiscardedAndCounted) {
  int rounds = 0, reads = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    condition.sm_clock_mhz = 1900 + reads % 3;
    condition.power_watts = 500;
    condition.power_capped = reads == 1;
    condition.slowed_down = reads == 4;  // after round 3, before round 4
    ++reads;
    return condition;
  };
  const Result<RaceResult> race =
      RunRace({10, 10, 0}, read, Drifting(rounds, [](int i) { return i == 3 || i == 4 ? 5.0 : 1.0; }));
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(rounds, 12);
  EXPECT_EQ(race->conditions.discarded_batches, 2);
  EXPECT_TRUE(race->conditions.power_capped);
  EXPECT_EQ(race->conditions.sm_clock_mhz, 1901);
  for (float sample : race->timings[0].samples_ns) EXPECT_EQ(sample, 100e3f);
}

TEST(Race, AGpuThatIsNeverOursIsUnavailableAndNamesTheCause) {
  int rounds = 0;
  const ReadCondition read = []() -> Result<GpuCondition> {
    GpuCondition condition;
    condition.other_processes = 2;
    return condition;
  };
  const Result<RaceResult> race = RunRace({5, 5, 0}, read, Drifting(rounds, [](int) { return 1.0; }));
  ASSERT_FALSE(race.ok());
  EXPECT_EQ(race.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(race.status().message().find("2 other processes"), std::string::npos);
  EXPECT_EQ(rounds, 5);
}

TEST(Race, AFailingClockEndsIt) {
  const TimeRound round = [](std::span<const size_t>) -> Result<std::vector<double>> { return IoError("event lost"); };
  EXPECT_EQ(RunRace({5, 5, 0}, {}, round).status().message(), "event lost");
}

TEST(Race, TheOrderVariesFromRoundToRound) {
  std::set<std::vector<size_t>> orders;
  const TimeRound round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    orders.emplace(order.begin(), order.end());
    return std::vector<double>{1, 1, 1};
  };
  ASSERT_TRUE(RunRace({60, 60, 0}, {}, round).ok());
  EXPECT_EQ(orders.size(), 6u);
}

}  // namespace
}  // namespace gemmsmith
