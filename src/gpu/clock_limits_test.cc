#include "gpu/clock_limits.h"

#include <gtest/gtest.h>

#include "gpu/nvml.h"

namespace gemmsmith {
namespace {

TEST(ClockLimits, NamesRoundTrip) {
  ClockLimits all;
  for (size_t i = 0; i < kClockLimitCount; ++i) {
    EXPECT_EQ(ParseClockLimit(Name(ClockLimit(i))), ClockLimit(i));
    all.Add(ClockLimit(i));
  }
  EXPECT_EQ(ParseClockLimits(Print(all)), all);
  EXPECT_EQ(Print({ClockLimit::kSyncBoost, ClockLimit::kPowerCap}), "power_cap sync_boost");
  EXPECT_EQ(ParseClockLimits(""), ClockLimits());
  EXPECT_FALSE(ParseClockLimits("power_cap heat"));
}

TEST(ClockLimits, ASetHoldsWhatWasAdded) {
  ClockLimits seen = {ClockLimit::kPowerCap};
  EXPECT_FALSE(seen.HasAnyOf(kSlowDowns));
  seen.Add(ClockLimits{ClockLimit::kSoftwareThermal});
  EXPECT_TRUE(seen.HasAnyOf(kSlowDowns));
  EXPECT_TRUE(seen.Has(ClockLimit::kPowerCap));
  EXPECT_TRUE(ClockLimits().empty());
}

// The bits that nvml.h gives its reasons.
TEST(ClockLimits, TheDriversReasonsAreReadBitByBit) {
  EXPECT_TRUE(ClockLimitsOf(0).empty());
  EXPECT_TRUE(ClockLimitsOf(0x1).empty()) << "an idle GPU is not held back";
  EXPECT_EQ(ClockLimitsOf(0x2), ClockLimits{ClockLimit::kApplicationClocks});
  EXPECT_EQ(ClockLimitsOf(0x4), ClockLimits{ClockLimit::kPowerCap});
  EXPECT_EQ(ClockLimitsOf(0x8), ClockLimits{ClockLimit::kHardwareSlowdown});
  EXPECT_EQ(ClockLimitsOf(0x10), ClockLimits{ClockLimit::kSyncBoost});
  EXPECT_EQ(ClockLimitsOf(0x20), ClockLimits{ClockLimit::kSoftwareThermal});
  EXPECT_EQ(ClockLimitsOf(0x40 | 0x4), (ClockLimits{ClockLimit::kHardwareThermal, ClockLimit::kPowerCap}));
  EXPECT_EQ(ClockLimitsOf(0x80), ClockLimits{ClockLimit::kPowerBrake});
  EXPECT_EQ(ClockLimitsOf(0x100), ClockLimits{ClockLimit::kDisplayClocks});
}

}  // namespace
}  // namespace gemmsmith
