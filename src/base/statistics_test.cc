#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace gemmsmith {
namespace {

std::vector<double> Ranks(int n) {
  std::vector<double> ranks(static_cast<size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 1.0);
  return ranks;
}

TEST(Statistics, SimpleOnes) {
  const std::vector<double> samples = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(Mean(samples), 2.5);
  EXPECT_DOUBLE_EQ(Median(samples), 2.5);
  EXPECT_DOUBLE_EQ(StandardDeviation(samples), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(GeometricMean(samples), std::pow(24, 0.25));
  EXPECT_DOUBLE_EQ(Quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(samples, 1), 4);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.25), 1.75);
  EXPECT_EQ(samples, (std::vector<double>{4, 1, 3, 2})) << "the argument is not sorted in place";
}

TEST(Statistics, OneSampleIsItsOwnEverything) {
  const std::vector<double> one = {7};
  EXPECT_EQ(Mean(one), 7);
  EXPECT_EQ(Median(one), 7);
  EXPECT_EQ(StandardDeviation(one), 0);
  EXPECT_DOUBLE_EQ(GeometricMean(one), 7);
  EXPECT_EQ(MedianInterval(one).low, 7);
  EXPECT_EQ(MedianInterval(one).high, 7);
}

// The ranks are those of the sign-test tables.
TEST(Statistics, RankCorrelationAsksOnlyForTheOrder) {
  const std::vector<double> x = {3, 1, 2, 4}, grows = {900, 1, 30, 901}, falls = {2, 4, 3, 1}, same = {7, 7, 7, 7};
  EXPECT_DOUBLE_EQ(*RankCorrelation(x, grows), 1);
  EXPECT_DOUBLE_EQ(*RankCorrelation(x, falls), -1);
  EXPECT_FALSE(RankCorrelation(x, same).has_value());
  EXPECT_FALSE(RankCorrelation(same, x).has_value());
  // Without ties 1 - 6 sum(d^2) / (n (n^2 - 1)): differences 0, 1, -1, 0.
  EXPECT_DOUBLE_EQ(*RankCorrelation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 3, 2, 4}), 0.8);
}

TEST(Statistics, RankCorrelationGivesEqualsTheirMeanRank) {
  // Ranks 0.5 0.5 2.5 2.5 beside 0 1 2 3: 4 / sqrt(4 * 5).
  EXPECT_DOUBLE_EQ(*RankCorrelation(std::vector<double>{1, 1, 2, 2}, std::vector<double>{1, 2, 3, 4}),
                   4 / std::sqrt(20.0));
}

TEST(Statistics, MedianIntervalUsesTheTabulatedRanks) {
  struct Row {
    int n, low, high;
  };
  for (const Row& row : {Row{2, 1, 2}, Row{5, 1, 5}, Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9},
                         Row{15, 4, 12}, Row{20, 6, 15}, Row{25, 8, 18}, Row{50, 18, 33}, Row{100, 40, 61}}) {
    const Interval interval = MedianInterval(Ranks(row.n));
    EXPECT_EQ(interval.low, row.low) << "n = " << row.n;
    EXPECT_EQ(interval.high, row.high) << "n = " << row.n;
  }
}

TEST(Statistics, MedianIntervalOfManySamplesIsNearTheNormalApproximation) {
  const int n = 20000;
  const Interval interval = MedianInterval(Ranks(n));
  EXPECT_NEAR(interval.low, n / 2.0 - 0.98 * std::sqrt(n), 2);
  EXPECT_NEAR(interval.high, n / 2.0 + 0.98 * std::sqrt(n), 2);
}

TEST(Statistics, MedianIntervalCoversTheMedianAsOftenAsItSays) {
  Random random(11);
  int covered = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = -std::log(1 - random.Uniform());  // skewed; the median is ln 2
    const Interval interval = MedianInterval(samples);
    covered += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
  }
  EXPECT_GE(covered, 2000 * 0.945);
}

TEST(Statistics, PairedRatioCancelsDrift) {
  std::vector<double> reference, ours;
  for (int i = 0; i < 40; ++i) {
    const double drift = 1 + 0.05 * i;
    reference.push_back(3 * drift), ours.push_back(2 * drift);
  }
  const RatioEstimate ratio = PairedRatio(reference, ours);
  EXPECT_NEAR(ratio.median, 1.5, 1e-12);
  EXPECT_NEAR(ratio.mean, 1.5, 1e-12);
  EXPECT_LT(ratio.interval.Width(), 1e-12);
  EXPECT_EQ(ratio.pairs, 40);
}

TEST(StatisticsDeathTest, MisuseIsABug) {
  const std::vector<double> none, one = {1}, two = {1, 2}, zero = {0};
  EXPECT_DEATH(Mean(none), "no samples");
  EXPECT_DEATH(Median(none), "no samples");
  EXPECT_DEATH(MedianInterval(none), "no samples");
  EXPECT_DEATH(GeometricMean(zero), "a sample is 0");
  EXPECT_DEATH(Quantile(one, 1.5), "q is 1.5");
  EXPECT_DEATH(PairedRatio(one, two), "1 samples against 2");
  EXPECT_DEATH(PairedRatio(one, zero), "sample 0 is 0");
}

}  // namespace
}  // namespace gemmsmith
