#include "policy/half.h"

#include <bit>

namespace gemmsmith {

namespace {

constexpr uint32_t kInfinity = 0x7f800000, kMagnitude = 0x7fffffff;
constexpr uint32_t kSmallestNormalHalf = 0x38800000;  // 2^-14
constexpr uint32_t kRoundsToInfinity = 0x477ff000;    // 65520

}  // namespace

// A half's exponent and mantissa moved to where a float has them are its value times 2^-112, subnormal or not.
float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = uint32_t(half & 0x7fff) << 13;
  if (magnitude >= 0x0f800000) return std::bit_cast<float>(sign | kInfinity | magnitude);
  const float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & kMagnitude;
  const uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  if (magnitude > kInfinity) return sign | 0x7e00;
  if (magnitude >= kRoundsToInfinity) return sign | 0x7c00;
  if (magnitude < kSmallestNormalHalf) {
    // Adding 0.5 leaves the multiple of 2^-24 in the lowest bits, rounded as the processor rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | uint16_t(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | uint16_t((rounded - (uint32_t{112} << 23)) >> 13);
}

}  // namespace gemmsmith
