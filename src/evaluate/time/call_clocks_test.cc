#include "evaluate/time/call_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/statistics.h"

namespace gemmsmith {
namespace {

std::vector<double> Draw(Gaps gaps, int count) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) seconds.push_back(gaps.NextSeconds());
  return seconds;
}

TEST(Gaps, AreExponentialWithTheMeanOfTheRate) {
  for (const double rate : {1000.0, 250.0}) {
    const std::vector<double> gaps = Draw(Gaps(Random(7), rate), 20'000);
    EXPECT_NEAR(Mean(gaps), 1 / rate, 0.03 / rate);
    EXPECT_NEAR(StandardDeviation(gaps), 1 / rate, 0.05 / rate);
    EXPECT_NEAR(Median(gaps), std::log(2.0) / rate, 0.03 / rate);
    EXPECT_GE(*std::min_element(gaps.begin(), gaps.end()), 0);
    EXPECT_LT(*std::max_element(gaps.begin(), gaps.end()), 40 / rate) << "no gap that would hang a run";
  }
}

TEST(CallsBefore, AreOneWhereL2HoldsAllAndElseBringSixteenTimesWhatItHoldsOrAreEight) {
  constexpr uint64_t kL2 = 60 << 20;
  EXPECT_EQ(CallsBefore({1024, 1024, 1024}, kL2), 1);
  EXPECT_EQ(CallsBefore({64, 2048, 6144}, kL2), 1) << "26 MB";
  EXPECT_EQ(CallsBefore({64, 2560, 6144}, kL2), 8) << "33 MB";
  EXPECT_EQ(CallsBefore({64, 8192, 8192}, kL2), 8) << "136 MB";
  EXPECT_EQ(CallsBefore({64, 16384, 8192}, kL2), 4) << "272 MB";
  EXPECT_EQ(CallsBefore({64, 16384, 16384}, kL2), 2) << "541 MB";
  EXPECT_EQ(CallsBefore({16384, 16384, 16384}, kL2), 1);
}

TEST(Gaps, AreTheSameForTheSameSeed) {
  EXPECT_EQ(Draw(Gaps(Random(3)), 100), Draw(Gaps(Random(3)), 100));
  EXPECT_NE(Draw(Gaps(Random(3)), 100), Draw(Gaps(Random(4)), 100));
}

}  // namespace
}  // namespace gemmsmith
