#include "evaluate/verify/ring_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gemmsmith {

namespace {

// Rounding is taken for the worst, half a unit in every element. Uniform rounding has a third of these squares, so that
// six of these deviations are more than ten of its own.
constexpr double kDeviations = 6;
// A bound of this share of an element's standard deviation, sqrt(K), shows one element that is off by half of it. Times
// a weight of at least 0.75 that half is 0.375.
constexpr double kWantedBound = 0.2;
constexpr int64_t kShortest = 64, kLongest = 4096;
// A standard deviation of one weight times one worst rounding, as a share of what is rounded, times the roundoff.
constexpr double kWorstRounding = 0.74;
// The largest element of normal inputs, in standard deviations.
constexpr double kLargest = 6;

}  // namespace

RingSums RingSums::For(const Gemm& gemm, Maker maker) {
  const auto [m, n, k] = gemm.shape;
  RingSums sums;
  sums.over_rows = m < n;
  sums.weighed = std::min(m, n);
  sums.kept = std::max(m, n);
  sums.roundoff = gemm.kind.type == ScalarType::kF16 ? 0x1p-11 : 0x1p-8;
  sums.accumulated = BoundsFor(gemm, kLargest * std::sqrt(double(k)), 0).accumulated;
  sums.deviations = kDeviations * (maker == Maker::kLibrary ? kLeniency : 1);
  const double deviation = std::hypot(kWorstRounding * sums.roundoff, sums.accumulated / std::sqrt(double(k)));
  const double longest = std::pow(kWantedBound / (kDeviations * deviation), 2);
  sums.segment = int64_t(std::bit_floor(uint64_t(std::clamp(longest, double(kShortest), double(kLongest)))));
  sums.segments = int((sums.weighed + sums.segment - 1) / sums.segment);
  constexpr int kGroup = 4;
  sums.padded = sums.segments == 1 ? 1 : (sums.segments + kGroup - 1) / kGroup * kGroup;
  return sums;
}

void RingSums::Enter(int64_t k, RingCheck& check) const {
  check.weighed = weighed;
  check.kept = kept;
  check.depth = k;
  check.segment = segment;
  check.over_rows = over_rows ? 1 : 0;
  check.segments = segments;
  check.padded = padded;
  check.roundoff = float(roundoff);
  check.accumulated = float(accumulated);
  check.deviations = float(deviations);
}

}  // namespace gemmsmith
