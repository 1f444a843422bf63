#include "evaluate/verify/certification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gemmsmith {
namespace {

TEST(CompareOnTheCpu, EveryElementOverTheBoundIsCountedAndTheFirstTold) {
  const float expected[] = {1, 2, 3, 4, 5, 6};
  const float got[] = {1, 2.5, 3, 4.75, 5, 6};
  CpuComparison comparison;
  Compare(got, expected, 3, 10, 20, {.fixed = 0.25}, comparison);
  EXPECT_EQ(comparison.failures, 2u);
  EXPECT_EQ(comparison.max_abs_error, 0.75);
  EXPECT_EQ(comparison.row, 10);
  EXPECT_EQ(comparison.column, 21);
  EXPECT_EQ(comparison.Describe({64, 32, 8}),
            "2 of 2048 elements are wrong by the CPU's product, one at [10, 21]: got 2.5, expected 2");
  // Blocks add up; what stands exactly at the bound passes.
  Compare(got, expected, 3, 12, 20, {.fixed = 0.75}, comparison);
  EXPECT_EQ(comparison.failures, 2u);
}

TEST(CompareOnTheCpu, AnElementIsHeldToItsOwnSize) {
  const float expected[] = {0, 100, -100, 0.5}, got[] = {0.2, 100.9, -98.9, 0.5};
  CpuComparison comparison;
  Compare(got, expected, 2, 0, 0, {.fixed = 0.1F, .share = 0.01F}, comparison);
  EXPECT_EQ(comparison.failures, 1u);
  EXPECT_EQ(comparison.row, 0);
  EXPECT_EQ(comparison.column, 0);
  const Acceptance narrower = Acceptance{.fixed = 0.1F, .share = 0.01F}.Within(0.5);
  Compare(got, expected, 2, 0, 0, narrower, comparison);
  EXPECT_EQ(comparison.failures, 4u);
}

TEST(CompareOnTheCpu, NaNAndInfinityFailWhateverTheBound) {
  const float expected[] = {0, 0}, got[] = {std::nanf(""), INFINITY};
  CpuComparison comparison;
  Compare(got, expected, 2, 0, 0, {.fixed = 1e30F}, comparison);
  EXPECT_EQ(comparison.failures, 2u);
  EXPECT_TRUE(std::isinf(comparison.max_abs_error));
}

TEST(CompareOnTheCpu, ALargeBlockIsComparedAsOneThatIsSmall) {
  constexpr int64_t kRows = 1000, kColumns = 1024;
  std::vector<float> expected(size_t(kRows * kColumns), 1.0F), got = expected;
  got[size_t(700 * kColumns + 3)] = 5;
  got[size_t(400 * kColumns + 9)] = 3;
  got[size_t(400 * kColumns + 8)] = 2;
  CpuComparison comparison;
  Compare(got, expected, kColumns, 2048, 4096, {.fixed = 0.5F}, comparison);
  EXPECT_EQ(comparison.failures, 3u);
  EXPECT_EQ(comparison.max_abs_error, 4);
  EXPECT_EQ(comparison.row, 2448) << "the first of them";
  EXPECT_EQ(comparison.column, 4104);
  EXPECT_EQ(comparison.got, 2);
}

}  // namespace
}  // namespace gemmsmith
