#include "policy/float_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "policy/model.h"

#if defined(__x86_64__)
#define GEMMSMITH_ALSO_WITH_AVX2 __attribute__((target_clones("arch=haswell", "default")))
#else
#define GEMMSMITH_ALSO_WITH_AVX2
#endif

namespace gemmsmith {

namespace {

// Of each row that is reduced, so many numbers side by side: registers' worth, which the compiler takes at once.
constexpr int kLanes = 16;

float SumOf(const float (&lanes)[kLanes]) {
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

[[gnu::always_inline]] inline float DotInLanes(const float* a, const float* b, int count) {
  float lanes[kLanes] = {}, rest = 0;
  int i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  for (; i < count; ++i) rest += a[i] * b[i];
  return rest + SumOf(lanes);
}

// e^x for x <= 0, without a call, so that many are taken at once: 2^n by the exponent's bits, the rest by its series.
[[gnu::always_inline]] inline float ExpOfNegative(float x) {
  constexpr float kMin = -87, kRounds = 0x1.8p23f;  // adding it leaves the nearest whole number in the lowest bits
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const float clamped = x < kMin ? kMin : x;
  const float shifted = clamped * kLog2E + kRounds, n = shifted - kRounds;
  const float f = clamped - n * kLn2High - n * kLn2Low;
  const float series =
      1 + f * (1 + f * (1 / 2.0f + f * (1 / 6.0f + f * (1 / 24.0f + f * (1 / 120.0f + f * (1 / 720.0f))))));
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRounds) + 127;
  return series * std::bit_cast<float>(exponent << 23);
}

}  // namespace

GEMMSMITH_ALSO_WITH_AVX2
float Dot(const float* a, const float* b, int count) { return DotInLanes(a, b, count); }

GEMMSMITH_ALSO_WITH_AVX2
void DotRows(const float* x, int width, const float* rows, int stride, int count, float* dots) {
  for (int row = 0; row < count; ++row) dots[row] = DotInLanes(x, rows + size_t(row) * stride, width);
}

GEMMSMITH_ALSO_WITH_AVX2
void AddScaledRows(const float* scales, const float* rows, int stride, int count, int width, float* y) {
  int i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    float lanes[kLanes];
    for (int j = 0; j < kLanes; ++j) lanes[j] = y[i + j];
    for (int row = 0; row < count; ++row)
      for (int j = 0; j < kLanes; ++j) lanes[j] += scales[row] * rows[size_t(row) * stride + i + j];
    for (int j = 0; j < kLanes; ++j) y[i + j] = lanes[j];
  }
  for (; i < width; ++i)
    for (int row = 0; row < count; ++row) y[i] += scales[row] * rows[size_t(row) * stride + i];
}

GEMMSMITH_ALSO_WITH_AVX2
void Norm(const float* x, std::span<const float> weights, float* y) {
  const float scale = 1 / std::sqrt(Dot(x, x, int(weights.size())) / float(weights.size()) + kNormEpsilon);
  const float* const weight = weights.data();
  for (size_t i = 0; i < weights.size(); ++i) y[i] = x[i] * scale * weight[i];
}

GEMMSMITH_ALSO_WITH_AVX2
void Scale(float scale, int count, float* x) {
  for (int i = 0; i < count; ++i) x[i] *= scale;
}

GEMMSMITH_ALSO_WITH_AVX2
void SquarePositive(std::span<float> x) {
  float* const values = x.data();
  for (size_t i = 0; i < x.size(); ++i) values[i] = values[i] > 0 ? values[i] * values[i] : 0;
}

GEMMSMITH_ALSO_WITH_AVX2
void Softmax(float* weights, int count) {
  float largest_lanes[kLanes], sum_lanes[kLanes] = {};
  std::fill_n(largest_lanes, kLanes, weights[0]);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int j = 0; j < kLanes; ++j)
      largest_lanes[j] = largest_lanes[j] < weights[i + j] ? weights[i + j] : largest_lanes[j];
  for (; i < count; ++i) largest_lanes[0] = std::max(largest_lanes[0], weights[i]);
  const float largest = *std::max_element(largest_lanes, largest_lanes + kLanes);
  for (i = 0; i + kLanes <= count; i += kLanes)
    for (int j = 0; j < kLanes; ++j) sum_lanes[j] += weights[i + j] = ExpOfNegative(weights[i + j] - largest);
  for (; i < count; ++i) sum_lanes[0] += weights[i] = ExpOfNegative(weights[i] - largest);
  Scale(1 / SumOf(sum_lanes), count, weights);
}

}  // namespace gemmsmith
