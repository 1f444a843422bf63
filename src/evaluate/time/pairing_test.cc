#include "evaluate/time/pairing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

namespace gemmsmith {
namespace {

RaceEntry Ours(int candidate, Clock clock = Clock::kDevice) { return {"ours", clock, candidate, false}; }
RaceEntry Rival(const std::string& name, bool is_decisive) { return {name, Clock::kDevice, kNoCandidate, is_decisive}; }

const std::vector<RaceEntry> kThree = {Ours(0), Rival("lt_auto_nn", true), Rival("cublas_nn", false)};

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
  return Race(kThree, rules, random, read, round);
}

TEST(Race, RatiosComeFromPairsSoThatDriftCancels) {
  int rounds = 0;
  const Result<RaceResult> race = RunRace({40, 40, 0}, {}, Drifting(rounds, [](int i) { return 1 + 0.02 * i; }));
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(rounds, 40);
  ASSERT_EQ(race->comparisons.size(), 3u);
  const std::vector<Comparison>& ours = race->comparisons[0];
  ASSERT_EQ(ours.size(), 2u);
  EXPECT_EQ(ours[0].baseline, "lt_auto_nn");
  EXPECT_NEAR(ours[0].ratio.median, 1.2, 1e-9);
  EXPECT_NEAR(ours[0].ratio.interval.Width(), 0, 0.05);  // the instrument's own share
  EXPECT_NEAR(ours[1].ratio.median, 0.5, 1e-9);
  EXPECT_TRUE(race->comparisons[1].empty() && race->comparisons[2].empty());
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
  EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.2, 1e-9);
}

TEST(Race, RoundsUnderASlowDownAreDiscardedAndCounted) {
  int rounds = 0, reads = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    condition.sm_clock_mhz = 1900 + reads % 3;
    condition.power_watts = 500;
    if (reads == 1) condition.limits = {ClockLimit::kPowerCap};
    if (reads == 4) condition.limits = {ClockLimit::kHardwareThermal};  // after round 3, before round 4
    ++reads;
    return condition;
  };
  const Result<RaceResult> race =
      RunRace({10, 10, 0, 0, 0}, read, Drifting(rounds, [](int i) { return i == 3 || i == 4 ? 5.0 : 1.0; }));
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(rounds, 12);
  EXPECT_EQ(race->conditions.discarded_batches, 2);
  EXPECT_EQ(race->conditions.limits, (ClockLimits{ClockLimit::kPowerCap, ClockLimit::kHardwareThermal}));
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
  const Result<RaceResult> race = RunRace({5, 5, 0, 0, 0}, read, Drifting(rounds, [](int) { return 1.0; }));
  ASSERT_FALSE(race.ok());
  EXPECT_EQ(race.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(race.status().message().find("2 other processes"), std::string::npos);
  EXPECT_EQ(rounds, 20);
}

TEST(Race, AShortRaceIsReadBeforeAndAfterAndStandsOrFallsAsAWhole) {
  int rounds = 0, reads = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    if (++reads == 2) condition.limits = {ClockLimit::kHardwareSlowdown};
    return condition;
  };
  // After the first five rounds the GPU is slowed down; the next five began under it; the third five count.
  const Result<RaceResult> race =
      RunRace({5, 5, 0, 0, 1000}, read, Drifting(rounds, [](int i) { return i < 10 ? 5.0 : 1.0; }));
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(reads, 4);
  EXPECT_EQ(rounds, 15);
  EXPECT_EQ(race->conditions.discarded_batches, 10);
  EXPECT_EQ(race->timings[0].median_ns, 100e3);
}

// ---- races of a given time

TEST(Race, LastsAsLongAsIsAskedAndKeepsAShareOfItsSamples) {
  Random random(3);
  int rounds = 0;
  double sum = 0;
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    sum += 100 + double(rounds++ % 7);
    return std::vector<double>{100 + double((rounds - 1) % 7), 200, 300};
  };
  const auto start = std::chrono::steady_clock::now();
  const RaceRules rules{.min_rounds = 8, .max_rounds = 100'000'000, .min_seconds = 0.2};
  const Result<RaceResult> race = Race(kThree, rules, random, {}, round);
  ASSERT_TRUE(race.ok());
  EXPECT_GE(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0.2);
  const Timing& ours = race->timings[0];
  ASSERT_GT(rounds, 2000);
  EXPECT_EQ(ours.sample_count, rounds);
  EXPECT_EQ(race->comparisons[0][0].ratio.pairs, rounds);
  EXPECT_NEAR(ours.mean_ns, sum / rounds, 1e-6) << "of all samples";
  EXPECT_EQ(ours.samples_ns.size(), kMaxKeptSamples);
}

TEST(Race, TimeThatIsDiscardedDoesNotCount) {
  Random random(3);
  int reads = 0, rounds = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    if (++reads <= 2) condition.limits = {ClockLimit::kHardwareSlowdown};
    return condition;
  };
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    ++rounds;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::vector<double>{1, 2, 3};
  };
  const RaceRules rules{.min_rounds = 1, .max_rounds = 1'000'000, .reading_interval_seconds = 0.02, .min_seconds = 0.1};
  const Result<RaceResult> race = Race(kThree, rules, random, read, round);
  ASSERT_TRUE(race.ok());
  EXPECT_GT(race->conditions.discarded_batches, 0);
  EXPECT_EQ(race->timings[0].sample_count, rounds - race->conditions.discarded_batches);
  EXPECT_LE(race->timings[0].sample_count, 10);
}

TEST(Thin, KeepsAnEvenShareInOrder) {
  std::vector<double> samples(10);
  std::iota(samples.begin(), samples.end(), 0.0);
  EXPECT_EQ(Thin(samples, 5), (std::vector<float>{0, 2, 4, 6, 8}));
  EXPECT_EQ(Thin(samples, 3), (std::vector<float>{0, 3, 6}));
  EXPECT_EQ(Thin(samples, 10).size(), 10u);
  EXPECT_EQ(Thin(samples, 99).size(), 10u);
  EXPECT_TRUE(Thin({}, 5).empty());
}

// ---- races without a candidate

TEST(RaceOfRivals, EveryoneIsComparedWithTheDecisiveOnes) {
  const std::vector<RaceEntry> entries = {Rival("cublas_nn", false), Rival("lt_auto_nn", true),
                                          Rival("lt_auto_tn", true)};
  int rounds = 0;
  Random random(1);
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    const double drift = 1 + 0.01 * rounds++;
    return std::vector<double>{150 * drift, 120 * drift, 100 * drift};
  };
  const Result<RaceResult> race = Race(entries, {10, 100, 0.02}, random, {}, round);
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(rounds, 10);
  const std::vector<Comparison>& cublas = race->comparisons[0];
  ASSERT_EQ(cublas.size(), 2u);
  EXPECT_EQ(cublas[0].contender, "cublas_nn");
  EXPECT_EQ(cublas[0].baseline, "lt_auto_nn");
  EXPECT_NEAR(cublas[0].ratio.median, 120.0 / 150, 1e-9);
  EXPECT_EQ(cublas[1].baseline, "lt_auto_tn");
  EXPECT_NEAR(cublas[1].ratio.median, 100.0 / 150, 1e-9);
  ASSERT_EQ(race->comparisons[1].size(), 1u);
  EXPECT_EQ(race->comparisons[1][0].contender, "lt_auto_nn");
  EXPECT_EQ(race->comparisons[1][0].baseline, "lt_auto_tn");
  ASSERT_EQ(race->comparisons[2].size(), 1u);
  EXPECT_NEAR(race->comparisons[2][0].ratio.median, 1.2, 1e-9);
}

TEST(RaceOfRivals, GoesOnUntilTheNoisiestIsKnown) {
  const std::vector<RaceEntry> entries = {Rival("cublas_nn", false), Rival("lt_auto_nn", true)};
  Random random(1), noise(2);
  int rounds = 0;
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    ++rounds;
    return std::vector<double>{100 * (1 + noise.Uniform()), 100};
  };
  ASSERT_TRUE(Race(entries, {10, 100, 0.02}, random, {}, round).ok());
  EXPECT_EQ(rounds, 100);
}

TEST(RaceOfRivals, WithoutADecisiveOneNobodyIsCompared) {
  const std::vector<RaceEntry> entries = {Rival("cublas_nn", false), Rival("torch_nn", false)};
  Random random(1);
  std::vector<double> times = {1, 2};
  const Result<RaceResult> race = Race(entries, {10, 20, 0.02}, random, {},
                                       [&](std::span<const size_t>) -> Result<std::vector<double>> { return times; });
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(race->timings[0].sample_count, 20);
  EXPECT_TRUE(race->comparisons[0].empty() && race->comparisons[1].empty());
}

// ---- what is known of the truth

// A race of two whose times drift, jitter and have outliers. One of them is off, through the whole race, by as much as
// a race may be (standard deviation 0.7 %). The true ratio is 1.02.
RatioEstimate SimulatedRatio(uint64_t seed) {
  constexpr double kTruth = 1.02;
  Random random(seed), noise = Random(seed).Fork("noise");
  const double through_the_race = std::exp(0.007 * noise.Normal());
  double drift = 1;
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    drift *= 1 + 0.002 * noise.Normal();
    const auto jitter = [&] { return std::exp(0.01 * noise.Normal()) * (noise.Below(20) == 0 ? 3 : 1); };
    return std::vector<double>{100e3 * drift * jitter(), kTruth * 100e3 * drift * through_the_race * jitter()};
  };
  const std::vector<RaceEntry> entries = {Ours(0), Rival("lt_auto_nn", true)};
  const Result<RaceResult> race = Race(entries, {30, 30, 0}, random, {}, round);
  EXPECT_TRUE(race.ok());
  return race->comparisons[0][0].ratio;
}

TEST(Race, ItsIntervalsCoverTheTruthInAtLeastNinetyOfAHundredRepeats) {
  int covered = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const RatioEstimate ratio = SimulatedRatio(seed);
    covered += ratio.interval.low <= 1.02 && 1.02 <= ratio.interval.high;
    EXPECT_NEAR(ratio.median, 1.02, 0.04) << seed;
  }
  EXPECT_GE(covered, 450);
  EXPECT_LT(covered, 500) << "intervals that always cover are too wide to be of use";
}

// ---- several candidates in one race

// Entries with these times; counts the visits of each.
TimeRound Constant(const std::vector<double>& times, std::vector<int>& visits) {
  visits.assign(times.size(), 0);
  return [times, &visits](std::span<const size_t> order) -> Result<std::vector<double>> {
    for (size_t i : order) ++visits[i];
    return times;
  };
}

TEST(RaceOfMany, EveryEntryOfOursIsComparedWithEveryRivalOnItsOwnClock) {
  const std::vector<RaceEntry> entries = {Ours(0), Ours(0, Clock::kDeviceChained), Ours(1), Rival("lt_auto_nn", true),
                                          Rival("lt_auto_tn", true)};
  std::vector<int> visits;
  const std::vector<double> times = {100, 80, 200, 400, 300};
  Random random(1);
  const Result<RaceResult> race = Race(entries, {5, 5, 0}, random, {}, Constant(times, visits));
  ASSERT_TRUE(race.ok());
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(race->comparisons[i].size(), 2u);
    for (size_t baseline = 0; baseline < 2; ++baseline) {
      const Comparison& comparison = race->comparisons[i][baseline];
      EXPECT_EQ(comparison.baseline, entries[3 + baseline].name);
      EXPECT_EQ(comparison.clock, entries[i].clock);
      EXPECT_NEAR(comparison.ratio.median, times[3 + baseline] / times[i], 1e-9);
    }
    EXPECT_EQ(race->timings[i].clock, entries[i].clock);
  }
}

TEST(RaceOfMany, ChainsDoNotKeepARaceFromItsEarlyEnd) {
  for (const Clock chained : {Clock::kDeviceChained, Clock::kDeviceColdChained}) {
    const std::vector<RaceEntry> entries = {Ours(0, PlainOf(chained)), Ours(0, chained), Rival("lt_auto_nn", true)};
    Random noise(1), random(2);
    int rounds = 0;
    const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
      ++rounds;
      return std::vector<double>{100, 100 * (1 + noise.Uniform()), 100};
    };
    ASSERT_TRUE(Race(entries, {10, 100, 0.02}, random, {}, round).ok());
    EXPECT_EQ(rounds, 10) << Name(chained);
  }
}

TEST(RaceOfMany, GoesOnUntilTheNoisiestCandidateIsKnown) {
  const std::vector<RaceEntry> entries = {Ours(0), Ours(1), Rival("lt_auto_nn", true)};
  Random noise(1), random(2);
  int rounds = 0;
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    ++rounds;
    return std::vector<double>{100, 100 * (1 + noise.Uniform()), 100};
  };
  ASSERT_TRUE(Race(entries, {10, 100, 0.02}, random, {}, round).ok());
  EXPECT_EQ(rounds, 100);
}

TEST(RaceOfMany, AHeatHalvesUntilFewAreLeftAndKeepsEveryonesSamples) {
  std::vector<RaceEntry> entries;
  std::vector<double> times;
  for (int i = 0; i < 16; ++i) entries.push_back(Ours(i)), times.push_back(100 + (i * 7) % 16);
  for (int i = 0; i < 16; ++i) entries.push_back(Ours(i, Clock::kDeviceChained)), times.push_back(1000 - i);
  entries.push_back(Rival("lt_auto_nn", true)), times.push_back(500);
  std::vector<int> visits;
  Random random(1);
  const Result<RaceResult> race =
      Race(entries, {.min_rounds = 5, .max_rounds = 100, .survivors = 4}, random, {}, Constant(times, visits));
  ASSERT_TRUE(race.ok());
  for (size_t i = 0; i < 16; ++i) {
    const double place = times[i] - 100;
    const int rounds = place < 8 ? 15 : 5;  // eight are left after 5 rounds, four after 10 more
    EXPECT_EQ(visits[i], rounds) << i;
    EXPECT_EQ(visits[16 + i], rounds) << "with all entries of a candidate, " << i;
    EXPECT_EQ(race->timings[i].sample_count, rounds);
    ASSERT_EQ(race->comparisons[i].size(), 1u);
    EXPECT_EQ(race->comparisons[i][0].ratio.pairs, rounds);
    EXPECT_NEAR(race->comparisons[i][0].ratio.median, 500 / times[i], 1e-9);
  }
  EXPECT_EQ(visits.back(), 15);
}

TEST(RaceOfMany, AHeatOfFewHasItsFirstRounds) {
  const std::vector<RaceEntry> entries = {Ours(0), Ours(1), Rival("lt_auto_nn", true)};
  std::vector<int> visits;
  Random random(1);
  ASSERT_TRUE(
      Race(entries, {.min_rounds = 5, .max_rounds = 100, .survivors = 4}, random, {}, Constant({1, 2, 3}, visits))
          .ok());
  EXPECT_EQ(visits, (std::vector<int>{5, 5, 5}));
}

TEST(RaceOfMany, RoundsDiscardedInAHeatCostNobodyItsPlace) {
  std::vector<RaceEntry> entries;
  std::vector<double> times;
  for (int i = 0; i < 8; ++i) entries.push_back(Ours(i)), times.push_back(100 + i);
  int reads = 0, rounds = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    if (++reads == 2) condition.limits = {ClockLimit::kHardwareSlowdown};
    return condition;
  };
  // While the GPU is slowed down the order is turned round.
  const TimeRound round = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    std::vector<double> now = times;
    if (rounds++ < 10) std::reverse(now.begin(), now.end());
    return now;
  };
  Random random(1);
  const Result<RaceResult> race =
      Race(entries, {.min_rounds = 5, .max_rounds = 100, .survivors = 4, .reading_interval_seconds = 1000}, random,
           read, round);
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(race->conditions.discarded_batches, 10);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(race->timings[i].sample_count, 5);
    EXPECT_EQ(race->timings[i].median_ns, times[i]);
  }
}

TEST(RaceOfMany, TheHopelessRaceOneRoundThatIsKept) {
  std::vector<RaceEntry> entries = {Ours(0), Ours(1), Rival("lt_auto_nn", true)};
  entries[1].is_hopeless = true;
  int reads = 0, rounds = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    if (++reads == 2) condition.limits = {ClockLimit::kHardwareSlowdown};
    return condition;
  };
  std::vector<int> visits(3);
  // Five rounds are discarded, five begin under the slow-down, five count.
  const TimeRound round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    for (size_t i : order) ++visits[i];
    const double factor = rounds++ < 10 ? 3 : 1;
    return std::vector<double>{100 * factor, 900 * factor, 200 * factor * (rounds == 11 ? 1.5 : 1)};
  };
  Random random(1);
  const RaceRules rules{.min_rounds = 5, .max_rounds = 5, .reading_interval_seconds = 1000};
  const Result<RaceResult> race = Race(entries, rules, random, read, round);
  ASSERT_TRUE(race.ok());
  EXPECT_EQ(visits, (std::vector<int>{15, 3, 15}));
  EXPECT_EQ(race->timings[0].sample_count, 5);
  EXPECT_EQ(race->timings[1].samples_ns, std::vector<float>{900});
  ASSERT_EQ(race->comparisons[1].size(), 1u);
  EXPECT_EQ(race->comparisons[1][0].ratio.pairs, 1);
  EXPECT_NEAR(race->comparisons[1][0].ratio.median, 300.0 / 900, 1e-9);  // of the same round
}

TEST(RaceOfMany, NothingWaitsForTheHopelessToBeKnown) {
  std::vector<RaceEntry> entries = {Ours(0), Ours(1), Rival("lt_auto_nn", true)};
  entries[1].is_hopeless = true;
  std::vector<int> visits;
  Random random(1);
  ASSERT_TRUE(Race(entries, {10, 100, 0.02}, random, {}, Constant({100, 900, 100}, visits)).ok());
  EXPECT_EQ(visits, (std::vector<int>{10, 1, 10}));
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

TEST(Race, EverySecondRoundRunsBackwards) {
  std::vector<std::vector<size_t>> orders;
  const TimeRound round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    orders.emplace_back(order.begin(), order.end());
    return std::vector<double>{1, 1, 1};
  };
  ASSERT_TRUE(RunRace({20, 20, 0}, {}, round).ok());
  ASSERT_EQ(orders.size(), 20u);
  for (size_t i = 0; i < orders.size(); i += 2) {
    std::reverse(orders[i].begin(), orders[i].end());
    EXPECT_EQ(orders[i], orders[i + 1]) << i;
  }
}

TEST(Race, WhatAPlaceInARoundIsWorthIsTheSameForAll) {
  std::vector<RaceEntry> entries = {Ours(0), Rival("lt_auto_nn", true)};
  const TimeRound first_is_faster = [](std::span<const size_t> order) -> Result<std::vector<double>> {
    std::vector<double> times(2, 1000);
    times[order[0]] = 970;
    return times;
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Result<RaceResult> race = Race(entries, {8, 8, 0}, random, {}, first_is_faster);
    ASSERT_TRUE(race.ok());
    EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1, 0.001) << seed;
  }
}

TEST(MeasuredRatio, SamplesWithoutScatterLeaveTheInstrumentsShare) {
  const std::vector<double> reference(20, 204), ours(20, 200);
  const RatioEstimate ratio = MeasuredRatio(reference, ours);
  EXPECT_DOUBLE_EQ(ratio.median, 1.02);
  EXPECT_GT(ratio.interval.Width(), 0.005);
  EXPECT_LT(ratio.interval.Width(), 0.06);
}

TEST(MeasuredRatio, TheInstrumentsShareIsSmallerForLongCalls) {
  const auto width_of = [](double ns) {
    return MeasuredRatio(std::vector<double>(20, 1.02 * ns), std::vector<double>(20, ns)).interval.Width();
  };
  EXPECT_LT(width_of(200e3), 0.7 * width_of(50e3));
  EXPECT_GT(width_of(200e3), 0.005);
}

TEST(MeasuredRatio, IsNeverBelowNothing) {
  const std::vector<double> theirs = {1, 1, 1, 1, 1, 1e-6, 1e-6, 1e-6, 1e-6}, ours(9, 1);
  EXPECT_GE(MeasuredRatio(theirs, ours).interval.low, 0);
}

TEST(MeasuredRatio, WhereSamplesScatterTheInstrumentsShareIsNothing) {
  std::vector<double> reference, ours(20, 200);
  for (int i = 0; i < 20; ++i) reference.push_back(140 + 8 * i);
  const RatioEstimate paired = PairedRatio(reference, ours), measured = MeasuredRatio(reference, ours);
  EXPECT_LE(measured.interval.low, paired.interval.low);
  EXPECT_GE(measured.interval.high, paired.interval.high);
  EXPECT_NEAR(measured.interval.Width(), paired.interval.Width(), 0.05 * paired.interval.Width());
}

}  // namespace
}  // namespace gemmsmith
