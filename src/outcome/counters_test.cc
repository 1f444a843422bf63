#include "outcome/counters.h"

#include <gtest/gtest.h>

#include <set>

#include "base/files.h"

namespace gemmsmith {
namespace {

TEST(Counters, EveryOneIsDefinedOnceInItsPlace) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kCounterCount; ++i) {
    const CounterDefinition& definition = CounterDefinitions()[i];
    EXPECT_EQ(definition.counter, Counter(i)) << definition.name;
    EXPECT_EQ(&DefinitionOf(Counter(i)), &definition);
    EXPECT_TRUE(names.insert(definition.name).second) << definition.name;
    EXPECT_FALSE(definition.definition.empty()) << definition.name;
    EXPECT_GT(definition.scale, 0) << definition.name;
  }
}

TEST(Counters, NoMetricFeedsTwo) {
  std::set<std::string_view> metrics;
  for (const CounterDefinition& definition : CounterDefinitions()) {
    if (definition.metric.empty()) continue;
    EXPECT_TRUE(metrics.insert(definition.metric).second) << definition.metric;
    EXPECT_NE(definition.metric.find("__"), std::string_view::npos) << definition.metric;
  }
}

TEST(Counters, NothingIsThereUntilItWasSeen) {
  Counters counters;
  EXPECT_EQ(counters.PresentBits(), 0u);
  counters[Counter::kDuration] = 0;
  counters[Counter::kWaves] = 1.5;
  EXPECT_EQ(counters.PresentBits(), uint64_t{1} | uint64_t{1} << int(Counter::kWaves));
  Counters again;
  again[Counter::kRegisters] = 3;
  again[Counter::kWaves] = 2;
  again.MarkPresent(counters.PresentBits());
  EXPECT_FALSE(again[Counter::kRegisters]);
  EXPECT_EQ(again[Counter::kDuration], 0.0);
  EXPECT_EQ(again[Counter::kWaves], 2.0);
}

Counters KernelOf(double duration_ns, double instructions) {
  Counters counters;
  counters.observer = "cupti";
  counters[Counter::kDuration] = duration_ns;
  counters[Counter::kInstructions] = instructions;
  return counters;
}

TEST(Counters, SeveralKernelsBecomeOne) {
  Counters kernels[] = {KernelOf(300, 1000), KernelOf(100, 3000)};
  kernels[0][Counter::kTensorPipe] = 80, kernels[1][Counter::kTensorPipe] = 0;
  kernels[0][Counter::kStallBarrier] = 2, kernels[1][Counter::kStallBarrier] = 6;
  kernels[0][Counter::kWaves] = 0.5, kernels[1][Counter::kWaves] = 7;
  kernels[0][Counter::kBankConflictsLoad] = 1, kernels[1][Counter::kBankConflictsLoad] = 2;
  const Counters call = Combine(kernels);
  EXPECT_EQ(call.observer, "cupti");
  EXPECT_EQ(call[Counter::kDuration], 400);
  EXPECT_EQ(call[Counter::kInstructions], 4000);
  EXPECT_EQ(call[Counter::kBankConflictsLoad], 3);
  EXPECT_EQ(call[Counter::kTensorPipe], 60) << "by the time that each kernel took";
  EXPECT_EQ(call[Counter::kStallBarrier], 5) << "by the instructions that each issued";
  EXPECT_EQ(call[Counter::kWaves], 0.5) << "of the longest";
  EXPECT_FALSE(call[Counter::kRegisters]) << "what nobody has stays absent";
}

TEST(Counters, WhatOneKernelLacksIsAbsentOfAll) {
  Counters kernels[] = {KernelOf(300, 1000), KernelOf(100, 0)};
  kernels[0][Counter::kTensorPipe] = 80;
  kernels[0][Counter::kSmBusy] = 80, kernels[1][Counter::kSmBusy] = 40;
  kernels[0][Counter::kWaves] = 1, kernels[1][Counter::kWaves] = 2;
  EXPECT_FALSE(Combine(kernels)[Counter::kTensorPipe]);
  EXPECT_EQ(Combine(kernels)[Counter::kSmBusy], 70);
  kernels[1][Counter::kDuration].reset();
  EXPECT_EQ(Combine(kernels).PresentBits(), uint64_t{1} << int(Counter::kInstructions)) << "no weights";
}

TEST(Counters, OneKernelIsWhatItIsAndNoneIsNothing) {
  Counters kernel;
  kernel[Counter::kWaves] = 3;
  kernel.lacks = "all but that";
  EXPECT_EQ(Combine({&kernel, 1}), kernel);
  EXPECT_EQ(Combine({}), Counters());
}

TEST(Counters, KernelsWithoutWeightHaveNoMean) {
  Counters kernels[] = {KernelOf(0, 0), KernelOf(0, 0)};
  for (Counters& kernel : kernels) kernel[Counter::kTensorPipe] = 50;
  EXPECT_FALSE(Combine(kernels)[Counter::kTensorPipe]);
}

TEST(Counters, ThePageSaysWhatEachOneIs) {
  const Result<std::string> page = ReadFile(GEMMSMITH_SOURCE_DIR "/docs/counters.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  for (const CounterDefinition& definition : CounterDefinitions()) {
    EXPECT_NE(page->find(std::string("| `") + std::string(definition.name) + "` |"), std::string::npos)
        << definition.name;
    for (const std::string_view metric : {definition.metric, definition.beside})
      EXPECT_NE(page->find(metric), std::string::npos) << metric;
  }
}

}  // namespace
}  // namespace gemmsmith
