#include "policy/few_bits.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "policy/half.h"

namespace gemmsmith {

namespace {

// -half to half - 1, so that zero is one of them.
int Half(int bits) { return 1 << (bits - 1); }

int MultipleOf(float value, float scale, int half) {
  return scale > 0 ? std::clamp(int(std::lround(value / scale)), -half, half - 1) : 0;
}

double SquaredError(std::span<const float> values, float scale, int half) {
  double sum = 0;
  for (const float value : values) {
    const double error = double(value) - double(scale) * MultipleOf(value, scale, half);
    sum += error * error;
  }
  return sum;
}

// The largest number need not be met: it may cost the others more than it gains.
float ScaleOf(std::span<const float> values, int half) {
  constexpr double kShares[] = {1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7};
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  float best = 0;
  double least = SquaredError(values, 0, half);
  for (const double share : kShares) {
    const float scale = HalfToFloat(FloatToHalf(float(share * largest / (half - 0.5))));
    const double error = SquaredError(values, scale, half);
    if (error < least) best = scale, least = error;
  }
  return best;
}

}  // namespace

FewBits InFewBits(std::span<const float> values, int bits) {
  GEMMSMITH_CHECK(bits >= kFewestBits && bits <= kMostBits && values.size() % kNeighbours == 0, "{} bits", bits);
  FewBits few{.multiples = std::vector<uint8_t>(values.size() * size_t(bits) / 8), .scales = {}};
  const int half = Half(bits);
  size_t bit = 0;
  for (size_t begin = 0; begin < values.size(); begin += kNeighbours) {
    const std::span<const float> group = values.subspan(begin, kNeighbours);
    few.scales.push_back(ScaleOf(group, half));
    for (const float value : group) {
      const unsigned stored = unsigned(MultipleOf(value, few.scales.back(), half) + half) << (bit % 8);
      few.multiples[bit / 8] |= uint8_t(stored);
      if (stored > 0xff) few.multiples[bit / 8 + 1] |= uint8_t(stored >> 8);
      bit += size_t(bits);
    }
  }
  return few;
}

std::optional<std::vector<float>> FromFewBits(const FewBits& few, int bits) {
  const size_t count = few.scales.size() * kNeighbours;
  if (bits < kFewestBits || bits > kMostBits || few.multiples.size() != count * size_t(bits) / 8) return std::nullopt;
  std::vector<float> values(count);
  const int half = Half(bits);
  size_t bit = 0;
  for (size_t i = 0; i < count; ++i, bit += size_t(bits)) {
    unsigned stored = few.multiples[bit / 8];
    if (bit / 8 + 1 < few.multiples.size()) stored |= unsigned(few.multiples[bit / 8 + 1]) << 8;
    values[i] = few.scales[i / kNeighbours] * float(int((stored >> (bit % 8)) & (2u * unsigned(half) - 1)) - half);
  }
  return values;
}

}  // namespace gemmsmith
