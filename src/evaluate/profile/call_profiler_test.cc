#include "evaluate/profile/call_profiler.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

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

TEST(CallProfiler, BothHalvesOfEachKernelComeTogetherBeforeTheKernelsDo) {
  const Counters counters =
      CountersOf({.launched = {Launched(3), Launched(4)}, .profiled = {Profiled(10), Profiled(20)}});
  EXPECT_EQ(counters.observer, "cupti");
  EXPECT_EQ(counters.lacks, "");
  EXPECT_EQ(counters[Counter::kDuration], 30);
  EXPECT_EQ(counters[Counter::kWaves], 4) << "of the second, which took longer";
}

TEST(CallProfiler, WithoutAProfilerALoneKernelStillHasWhatItsLaunchTells) {
  const Counters counters = CountersOf({.launched = {Launched(3)}, .why_not_profiled = "no permission"});
  EXPECT_EQ(counters.observer, "");
  EXPECT_EQ(counters.lacks, "no permission");
  EXPECT_EQ(counters[Counter::kWaves], 3);
  EXPECT_FALSE(counters[Counter::kDuration]);
}

TEST(CallProfiler, WithoutDurationsNobodyKnowsWhichKernelSpeaksForTheCall) {
  const Counters counters = CountersOf({.launched = {Launched(3), Launched(4)}, .why_not_profiled = "no permission"});
  EXPECT_EQ(counters.PresentBits(), 0u);
  EXPECT_EQ(counters.lacks, "no permission");
}

TEST(CallProfiler, ACallThatCannotBeCapturedIsProfiledAllTheSame) {
  const Counters counters = CountersOf({.profiled = {Profiled(10)}, .why_not_launched = "no graph takes it"});
  EXPECT_EQ(counters[Counter::kDuration], 10);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_EQ(counters.lacks, "no graph takes it");
}

TEST(CallProfiler, LaunchesThatDifferFromWhatWasProfiledAreNotMixedWithIt) {
  const Counters counters = CountersOf({.launched = {Launched(3)}, .profiled = {Profiled(10), Profiled(20)}});
  EXPECT_EQ(counters[Counter::kDuration], 30);
  EXPECT_FALSE(counters[Counter::kWaves]);
  EXPECT_EQ(counters.lacks, "the profiler saw 2 kernels of a call, its capture 1");
}

TEST(CallProfiler, ACallWithoutKernelsHasNoCounters) {
  const Counters counters = CountersOf({});
  EXPECT_EQ(counters.PresentBits(), 0u);
  EXPECT_EQ(counters.lacks, "the profiler saw 0 kernels of a call, its capture 0");
}

}  // namespace
}  // namespace gemmsmith
