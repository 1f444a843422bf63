#include "evaluate/source_rules.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

Timing Took(double median_ns, double half_interval_ns = 0) {
  Timing timing;
  timing.median_ns = median_ns;
  timing.interval = {median_ns - half_interval_ns, median_ns + half_interval_ns};
  return timing;
}

// 4 TB/s, of which 0.4 count: 16 MB take 10 us.
constexpr double kBytes = 16e6, kMemoryTbs = 4;

TEST(SourceRules, ReadingTheOperandsExplainsAGap) {
  EXPECT_EQ(WhyRepeatedCallsAreTooFast(Took(31'900), Took(20'000), kBytes, kMemoryTbs), "");
  EXPECT_EQ(
      WhyRepeatedCallsAreTooFast(Took(32'100), Took(20'000), kBytes, kMemoryTbs),
      "a repeated call takes 20000 ns, a call on operands of its own 32100 ns: 12100 ns more, of which reading the "
      "operands and noise explain 12000");
}

TEST(SourceRules, NoiseOfBothTimesExplainsAGap) {
  // 3 standard errors of sqrt(2) * 196 / 1.96 ns.
  EXPECT_EQ(WhyRepeatedCallsAreTooFast(Took(12'400, 196), Took(10'000, 196), 0, kMemoryTbs), "");
  EXPECT_NE(WhyRepeatedCallsAreTooFast(Took(12'450, 196), Took(10'000, 196), 0, kMemoryTbs), "");
}

TEST(SourceRules, ASlowerRepeatedCallIsNoOffence) {
  EXPECT_EQ(WhyRepeatedCallsAreTooFast(Took(10'000), Took(90'000), 0, kMemoryTbs), "");
}

TEST(SourceRules, AnUnknownMemoryExplainsEverything) {
  EXPECT_EQ(WhyRepeatedCallsAreTooFast(Took(90'000), Took(10'000), kBytes, 0), "");
}

}  // namespace
}  // namespace gemmsmith
