#include "search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace gemmsmith {
namespace {

double Bell(size_t a, size_t b) { return std::exp(-0.5 * std::pow((double(a) - double(b)) / 3, 2)); }

// With two values seen the textbook's formulas can be written out.
TEST(GaussianProcessTest, IsTheTextbooksAnswerForTwoValues) {
  constexpr double kNoise = 0.1, kFirst = 1.5, kSecond = -0.5;
  GaussianProcess process(10, Bell, kNoise);
  process.Learn(2, kFirst);
  process.Learn(5, kSecond);
  const double own = 1 + kNoise * kNoise, shared = Bell(2, 5), determinant = own * own - shared * shared;
  for (size_t i = 0; i < 10; ++i) {
    const double a = (own * Bell(i, 2) - shared * Bell(i, 5)) / determinant;
    const double b = (own * Bell(i, 5) - shared * Bell(i, 2)) / determinant;
    EXPECT_NEAR(process.Mean(i), a * kFirst + b * kSecond, 1e-6);
    EXPECT_NEAR(process.Variance(i), 1 - a * Bell(i, 2) - b * Bell(i, 5), 1e-6);
  }
  const double squares = (own * (kFirst * kFirst + kSecond * kSecond) - 2 * shared * kFirst * kSecond) / determinant;
  EXPECT_NEAR(process.LogLikelihood(), -0.5 * (squares + std::log(determinant)) - std::log(2 * std::numbers::pi), 1e-6);
  EXPECT_EQ(process.learned(), 2u);
}

TEST(GaussianProcessTest, APendingValueReducesOpenVarianceUntilItIsCleared) {
  GaussianProcess process(10, Bell, 0.1);
  process.MarkPending(4);
  EXPECT_LT(process.OpenVariance(4), 0.02);
  EXPECT_LT(process.OpenVariance(5), 0.5);
  EXPECT_GT(process.OpenVariance(5), process.OpenVariance(4));
  EXPECT_EQ(process.Variance(4), 1);
  process.ClearPending(4);
  for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(process.OpenVariance(i), 1, 1e-6);
  process.ClearPending(4);
  EXPECT_NEAR(process.OpenVariance(4), 1, 1e-6);
}

TEST(GaussianProcessTest, TheCovarianceThatMadeTheValuesIsLikelier) {
  const auto narrow = [](size_t a, size_t b) { return a == b ? 1.0 : 0.0; };
  GaussianProcess smooth(20, Bell, 0.05), rough(20, narrow, 0.05);
  for (size_t i = 0; i < 20; ++i) smooth.Learn(i, std::sin(double(i) / 4)), rough.Learn(i, std::sin(double(i) / 4));
  EXPECT_GT(smooth.LogLikelihood(), rough.LogLikelihood() + 10);
}

}  // namespace
}  // namespace gemmsmith
