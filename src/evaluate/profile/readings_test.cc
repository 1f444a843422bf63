#include "evaluate/profile/readings.h"

#include <gtest/gtest.h>

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
  AddResidency(launch, residency, counters);
  EXPECT_EQ(counters[Counter::kRegisters], 168);
  EXPECT_EQ(counters[Counter::kSmemBytes], 100'096);
  EXPECT_EQ(counters[Counter::kCtasPerMultiprocessor], 2);
  EXPECT_EQ(counters[Counter::kTheoreticalOccupancy], 37.5);
  EXPECT_DOUBLE_EQ(*counters[Counter::kWaves], 300.0 / 264);
}

TEST(Readings, AKernelThatFitsNowhereHasNoWaves) {
  Counters counters;
  AddResidency({}, {}, counters);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_FALSE(counters[Counter::kTheoreticalOccupancy]);
}

TEST(Readings, AReadingGoesToItsCounterInItsUnit) {
  Counters counters;
  AddReading("dram__bytes.sum.per_second", 3e12, counters);
  AddReading("gpu__time_duration.sum", std::nan(""), counters);
  EXPECT_EQ(counters[Counter::kDramGbs], 3000);
  EXPECT_FALSE(counters[Counter::kDuration]) << "what is not a number is not there";
  EXPECT_DEATH(AddReading("sm__lost.sum", 1, counters), "sm__lost.sum");
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
  EXPECT_LE((*schedule)->passes(), 8u);
}

}  // namespace
}  // namespace gemmsmith
