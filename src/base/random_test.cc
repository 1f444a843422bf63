#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace gemmsmith {
namespace {

// Every recorded seed means these values.
TEST(Random, GoldenValues) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.Next(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.Next(), 0x1a5f849d4933e6e0u);
  Random other(42);
  EXPECT_EQ(other.Next(), 0x15780b2e0c2ec716u);
}

TEST(Random, GoldenNormalsAreBitExact) {
  Random random(7);
  EXPECT_EQ(random.Normal(), 0x1.edc0d635eea0bp-1);
  EXPECT_EQ(random.Normal(), -0x1.3739755916c21p-2);
}

TEST(Random, BelowIsUniformAndInRange) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) {
    const uint64_t drawn = random.Below(7);
    ASSERT_LT(drawn, 7u);
    ++counts[drawn];
  }
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random.Below(1), 0u);
  const uint64_t wide = (uint64_t(1) << 63) + 1;  // nearly half of all draws must be drawn again
  for (int i = 0; i < 1000; ++i) ASSERT_LT(random.Below(wide), wide);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  Random random(3);
  double uniform_sum = 0, sum = 0, squares = 0, fourth = 0;
  const int draws = 200000;
  for (int i = 0; i < draws; ++i) {
    const double uniform = random.Uniform();
    ASSERT_GE(uniform, 0);
    ASSERT_LT(uniform, 1);
    uniform_sum += uniform;
    const double normal = random.Normal();
    ASSERT_TRUE(std::isfinite(normal));
    sum += normal, squares += normal * normal, fourth += std::pow(normal, 4);
  }
  EXPECT_NEAR(uniform_sum / draws, 0.5, 0.005);
  EXPECT_NEAR(sum / draws, 0, 0.01);
  EXPECT_NEAR(squares / draws, 1, 0.02);
  EXPECT_NEAR(fourth / draws, 3, 0.15);
}

TEST(Random, ForksAreIndependentOfEachOtherAndLeaveTheParentAlone) {
  Random parent(5);
  const Random untouched = parent;
  Random a = parent.Fork("inputs"), b = parent.Fork("noise"), again = parent.Fork("inputs");
  const uint64_t first = a.Next();
  EXPECT_EQ(again.Next(), first);
  EXPECT_NE(b.Next(), first);
  Random copy = untouched;
  EXPECT_EQ(parent.Next(), copy.Next());
  EXPECT_NE(parent.Fork("inputs").Next(), first) << "a fork depends on where the parent stands";
}

TEST(Random, ShuffleKeepsTheItemsAndMovesThem) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> shuffled = items;
  Random random(9);
  random.Shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

TEST(RandomDeathTest, BelowZeroIsABug) { EXPECT_DEATH(Random(1).Below(0), "nothing lies below 0"); }

TEST(Random, ChoosesAsOftenAsItsWeightSays) {
  Random random(5);
  const std::vector<double> weights = {1, 0, 3};
  std::vector<int> chosen(weights.size());
  for (int i = 0; i < 4000; ++i) ++chosen[random.Choose(weights)];
  EXPECT_EQ(chosen[1], 0);
  EXPECT_NEAR(chosen[2] / double(chosen[0]), 3, 0.4);
  EXPECT_EQ(random.Choose(std::vector<double>{0, 0}), 1u) << "the last where nothing has weight";
}

}  // namespace
}  // namespace gemmsmith
