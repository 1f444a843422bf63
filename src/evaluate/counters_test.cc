#include "evaluate/counters.h"

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

TEST(Counters, ThePageSaysWhatEachOneIs) {
  const Result<std::string> page = ReadFile(GEMMSMITH_SOURCE_DIR "/docs/counters.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  for (const CounterDefinition& definition : CounterDefinitions()) {
    EXPECT_NE(page->find(std::string("| `") + std::string(definition.name) + "` |"), std::string::npos)
        << definition.name;
    if (!definition.metric.empty()) {
      EXPECT_NE(page->find(definition.metric), std::string::npos) << definition.metric;
    }
  }
}

}  // namespace
}  // namespace gemmsmith
