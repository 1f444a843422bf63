#include "policy/float_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "policy/model.h"

namespace gemmsmith {
namespace {

constexpr int kCounts[] = {1, 2, 15, 16, 17, 31, 64, 85, 256, 984};

std::vector<float> SomeFloats(int count, float scale, Random& random) {
  std::vector<float> floats;
  for (int i = 0; i < count; ++i) floats.push_back(scale * float(random.Normal()));
  return floats;
}

TEST(FloatRowsTest, ADotProductIsTheSumOfProducts) {
  Random random(1);
  for (const int count : kCounts) {
    const std::vector<float> a = SomeFloats(count, 1, random), b = SomeFloats(count, 1, random);
    EXPECT_NEAR(Dot(a.data(), b.data(), count), std::inner_product(a.begin(), a.end(), b.begin(), 0.0), 1e-4) << count;
  }
  EXPECT_EQ(Dot(nullptr, nullptr, 0), 0);
}

TEST(FloatRowsTest, RowsAreMultipliedAndAddedWhereverTheyLie) {
  Random random(2);
  constexpr int kRows = 5;
  for (const int width : kCounts) {
    const int stride = width + 3;
    const std::vector<float> rows = SomeFloats(kRows * stride, 1, random), x = SomeFloats(width, 1, random);
    const std::vector<float> scales = SomeFloats(kRows, 1, random), before = SomeFloats(width, 1, random);
    std::vector<float> dots(kRows), sum = before;
    DotRows(x.data(), width, rows.data(), stride, kRows, dots.data());
    AddScaledRows(scales.data(), rows.data(), stride, kRows, width, sum.data());
    for (int row = 0; row < kRows; ++row)
      EXPECT_NEAR(dots[size_t(row)], std::inner_product(x.begin(), x.end(), rows.begin() + row * stride, 0.0), 1e-4);
    for (int i = 0; i < width; ++i) {
      double expected = before[size_t(i)];
      for (int row = 0; row < kRows; ++row) expected += double(scales[size_t(row)]) * rows[size_t(row * stride + i)];
      EXPECT_NEAR(sum[size_t(i)], expected, 1e-5) << width;
    }
  }
}

TEST(FloatRowsTest, NumbersAreScaled) {
  std::vector<float> x(19, 0.5f);
  Scale(-3, 18, x.data());
  EXPECT_EQ(x[0], -1.5f);
  EXPECT_EQ(x[17], -1.5f);
  EXPECT_EQ(x[18], 0.5f);
}

TEST(FloatRowsTest, ANormDividesByTheRootOfTheMeanSquare) {
  Random random(3);
  for (const int count : kCounts) {
    const std::vector<float> x = SomeFloats(count, 5, random), weights = SomeFloats(count, 1, random);
    std::vector<float> y(x.size());
    Norm(x.data(), weights, y.data());
    const double mean_square = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / count;
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(y[i], x[i] * weights[i] / std::sqrt(mean_square + kNormEpsilon), 1e-5) << count;
  }
}

TEST(FloatRowsTest, WhatIsPositiveIsSquaredAndTheRestIsNothing) {
  std::vector<float> x = {-2, -0.0f, 0, 0.5f, 3};
  x.resize(40, 2);
  SquarePositive(x);
  std::vector<float> expected = {0, 0, 0, 0.25f, 9};
  expected.resize(40, 4);
  EXPECT_EQ(x, expected);
}

TEST(FloatRowsTest, SoftmaxIsThatOfTheDefinition) {
  Random random(4);
  for (const int count : kCounts)
    for (const float scale : {0.1f, 3.0f, 60.0f}) {
      const std::vector<float> logits = SomeFloats(count, scale, random);
      std::vector<float> weights = logits;
      Softmax(weights.data(), count);
      const double largest = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const float logit : logits) sum += std::exp(logit - largest);
      for (size_t i = 0; i < logits.size(); ++i)
        EXPECT_NEAR(weights[i], std::exp(logits[i] - largest) / sum, 1e-6) << count << " " << scale;
    }
}

// What is not allowed must not come back.
TEST(FloatRowsTest, SoftmaxOfFarApartLogitsStaysFinite) {
  std::vector<float> weights(20, -std::numeric_limits<float>::max());
  weights[3] = 80, weights[17] = 80;
  Softmax(weights.data(), 20);
  for (size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(weights[i], i == 3 || i == 17 ? 0.5 : 0, 1e-6) << i;
}

}  // namespace
}  // namespace gemmsmith
