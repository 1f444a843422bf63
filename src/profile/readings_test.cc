#include "profile/readings.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace gemmsmith {
namespace {

TEST(Readings, ResidencyGivesOccupancyAndWaves) {
  const Launch launch{.grid = {10, 30, 1}, .block = {384, 1, 1}, .smem_bytes = 100'000};
  const Residency residency{.registers_per_thread = 168,
                            .static_smem_bytes = 96,
                            .ctas_per_multiprocessor = 2,
                            .max_warps_per_multiprocessor = 64,
                            .ctas_at_once = 264};
  Counters counters;
  AddResidency({launch, residency}, counters);
  EXPECT_EQ(counters[Counter::kRegisters], 168);
  EXPECT_EQ(counters[Counter::kSmemBytes], 100'096);
  EXPECT_EQ(counters[Counter::kCtasPerMultiprocessor], 2);
  EXPECT_EQ(counters[Counter::kTheoreticalOccupancy], 37.5);
  EXPECT_DOUBLE_EQ(*counters[Counter::kWaves], 300.0 / 264);
}

TEST(Readings, AKernelThatFitsNowhereHasNoWaves) {
  Counters counters;
  AddResidency({}, counters);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_FALSE(counters[Counter::kTheoreticalOccupancy]);
}

TEST(Readings, AReadingGoesToItsCounterInItsUnit) {
  Counters counters;
  AddReadings({{"dram__bytes.sum.per_second", 3e12}, {"gpu__time_duration.sum", std::nan("")}, {"sm__lost.sum", 1}},
              counters);
  EXPECT_EQ(counters[Counter::kDramGbs], 3000);
  EXPECT_FALSE(counters[Counter::kDuration]) << "what is not a number is not there";
  EXPECT_EQ(std::popcount(counters.PresentBits()), 1);
}

TEST(Readings, AShareNeedsBothOfItsMetrics) {
  Counters counters;
  AddReadings({{"lts__t_tag_requests_hit.sum", 30.0}, {"lts__t_tag_requests_miss.sum", 10.0}}, counters);
  EXPECT_EQ(counters[Counter::kL2HitPercent], 75);
  Counters half, none;
  AddReadings({{"lts__t_tag_requests_hit.sum", 30.0}}, half);
  AddReadings({{"lts__t_tag_requests_hit.sum", 0.0}, {"lts__t_tag_requests_miss.sum", 0.0}}, none);
  EXPECT_FALSE(half[Counter::kL2HitPercent] || none[Counter::kL2HitPercent]);
}

TEST(Readings, WhatIsAbsentIsNamedOrExplained) {
  Counters counters;
  for (const CounterDefinition& definition : CounterDefinitions()) counters[definition.counter] = 1;
  SayWhatIsAbsent("no matter", counters);
  EXPECT_EQ(counters.lacks, "") << "nothing is absent";
  counters[Counter::kWaves].reset();
  SayWhatIsAbsent("", counters);
  EXPECT_EQ(counters.lacks, "the profiler has no waves");
  SayWhatIsAbsent("nobody looked", counters);
  EXPECT_EQ(counters.lacks, "nobody looked");
}

// The names and the number of passes are promises of CUPTI 13's tables, which need no GPU.
TEST(Readings, HopperHasEveryMetricInFewPasses) {
  const auto schedule = MetricSchedule::Make("GH100", CounterMetrics(), {});
  if (!schedule.ok()) GTEST_SKIP() << schedule.status().message();
  EXPECT_EQ((*schedule)->unknown(), std::vector<std::string>());
  EXPECT_LE((*schedule)->passes(), 6u);
}

// Passes over units outside of the multiprocessors cost ten times as much as the others (docs/lab/judge.md).
TEST(Readings, MemoryAndL2TakeOnePass) {
  std::vector<std::string_view> metrics;
  for (const std::string_view metric : CounterMetrics())
    if (metric.starts_with("dram__") || metric.starts_with("lts__") || metric.starts_with("gpu__"))
      metrics.push_back(metric);
  ASSERT_EQ(metrics.size(), 6u);
  const auto schedule = MetricSchedule::Make("GH100", metrics, {});
  if (!schedule.ok()) GTEST_SKIP() << schedule.status().message();
  EXPECT_EQ((*schedule)->passes(), 1u);
}

Counters Profiled(double duration_ns) {
  Counters counters;
  counters.observer = "cupti";
  for (const CounterDefinition& definition : CounterDefinitions())
    if (!definition.metric.empty()) counters[definition.counter] = 1;
  counters[Counter::kDuration] = duration_ns;
  return counters;
}

Counters Launched(double waves) {
  Counters counters;
  for (const CounterDefinition& definition : CounterDefinitions())
    if (definition.metric.empty()) counters[definition.counter] = 1;
  counters[Counter::kWaves] = waves;
  return counters;
}

TEST(Readings, BothHalvesOfEachKernelComeTogetherBeforeTheKernelsDo) {
  const Counters counters =
      CountersOf({.launched = {Launched(3), Launched(4)}, .profiled = {Profiled(10), Profiled(20)}});
  EXPECT_EQ(counters.observer, "cupti");
  EXPECT_EQ(counters.lacks, "");
  EXPECT_EQ(counters[Counter::kDuration], 30);
  EXPECT_EQ(counters[Counter::kWaves], 4) << "of the second, which took longer";
}

TEST(Readings, WithoutAProfilerALoneKernelStillHasWhatItsLaunchTells) {
  const Counters counters = CountersOf({.launched = {Launched(3)}, .why_not_profiled = "no permission"});
  EXPECT_EQ(counters.observer, "");
  EXPECT_EQ(counters.lacks, "no permission");
  EXPECT_EQ(counters[Counter::kWaves], 3);
  EXPECT_FALSE(counters[Counter::kDuration]);
}

TEST(Readings, WithoutDurationsNobodyKnowsWhichKernelSpeaksForTheCall) {
  const Counters counters = CountersOf({.launched = {Launched(3), Launched(4)}, .why_not_profiled = "no permission"});
  EXPECT_EQ(counters.PresentBits(), 0u);
  EXPECT_EQ(counters.lacks, "no permission");
}

TEST(Readings, ACallOfUnknownLaunchesIsProfiledAllTheSame) {
  const Counters counters = CountersOf({.profiled = {Profiled(10)}, .why_not_launched = "the driver does not say"});
  EXPECT_EQ(counters[Counter::kDuration], 10);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_EQ(counters.lacks, "the driver does not say");
}

TEST(Readings, LaunchesThatDifferFromWhatWasProfiledAreNotMixedWithIt) {
  const Counters counters = CountersOf({.launched = {Launched(3)}, .profiled = {Profiled(10), Profiled(20)}});
  EXPECT_EQ(counters[Counter::kDuration], 30);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_EQ(counters.lacks, "the profiler saw 2 kernels of a call, which has 1");
}

TEST(Readings, ACallWithoutKernelsHasNoCounters) {
  const Counters counters = CountersOf({});
  EXPECT_EQ(counters.PresentBits(), 0u);
  EXPECT_EQ(counters.lacks, "the profiler saw 0 kernels of a call, which has 0");
}

}  // namespace
}  // namespace gemmsmith
