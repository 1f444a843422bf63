#include "policy/contrast.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace gemmsmith {
namespace {

TEST(Contrast, BucketsAreDrawnByASoftmaxOverTheirMeans) {
  const std::vector<double> scores = {0, 0, 1, 1, 1};  // two buckets, means 0 and 1, deviation of the means s
  Random random(1);
  std::array<int, 5> first{};
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<size_t> chosen = ChooseContrasting(scores, 2, 1, random);
    ASSERT_EQ(chosen.size(), 2u);
    EXPECT_NE(scores[chosen[0]], scores[chosen[1]]);
    ++first[chosen[0]];
  }
  const double deviation = std::sqrt(0.5);
  const double slow = 1 / (1 + std::exp(1 / deviation));
  EXPECT_NEAR((first[0] + first[1]) / double(kDraws), slow, 0.03);
  for (const size_t fast : {2, 3, 4}) EXPECT_NEAR(first[fast] / double(kDraws), (1 - slow) / 3, 0.03) << fast;
}

TEST(Contrast, OneBucketGivesOneVariantAndNoneGivesNone) {
  Random random(1);
  EXPECT_EQ(ChooseContrasting(std::vector<double>{3, 3, 3}, 2, 1, random).size(), 1u);
  EXPECT_TRUE(ChooseContrasting({}, 2, 1, random).empty());
}

}  // namespace
}  // namespace gemmsmith
