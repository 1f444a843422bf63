#include "policy/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace gemmsmith {
namespace {

TEST(HalfTest, EveryHalfComesBack) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float value = HalfToFloat(uint16_t(half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value))));
    } else {
      EXPECT_EQ(FloatToHalf(value), half) << value;
    }
  }
}

TEST(HalfTest, KnownValues) {
  EXPECT_EQ(HalfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(HalfToFloat(0xc000), -2.0f);
  EXPECT_EQ(HalfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(HalfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(HalfToFloat(0x7c00), INFINITY);
  EXPECT_TRUE(std::signbit(HalfToFloat(0x8000)));
}

// Between two halves the nearest, in the middle the even one.
TEST(HalfTest, RoundsToNearestTiesToEven) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const double low = HalfToFloat(uint16_t(half)), high = HalfToFloat(uint16_t(half + 1));
    const double middle = (low + high) / 2;
    EXPECT_EQ(FloatToHalf(float(middle)), half % 2 == 0 ? half : half + 1);
    EXPECT_EQ(FloatToHalf(std::nextafter(float(middle), 0.0f)), half);
    EXPECT_EQ(FloatToHalf(std::nextafter(float(middle), 1e9f)), half + 1);
  }
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(1e30f), 0x7c00);
  EXPECT_EQ(FloatToHalf(1e-30f), 0);
}

}  // namespace
}  // namespace gemmsmith
