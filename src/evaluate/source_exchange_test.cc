#include "evaluate/source_exchange.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr uint64_t kGranule = uint64_t{2} << 20;

uint64_t AllocatedFor(uint64_t matrix_bytes) {
  return (2 * kGuardBytes + matrix_bytes + kGranule - 1) / kGranule * kGranule;
}

TEST(OffsetOfMatrix, InputsEndWithTheirMemoryAsFarAsTheirAlignmentLetsThem) {
  for (const uint64_t bytes : {2, 30, 32, 254, 256, 1000, 102400, 1 << 20, (1 << 20) + 18, 512 << 20}) {
    const uint64_t allocated = AllocatedFor(bytes);
    const uint64_t timed = OffsetOfMatrix(Alignment::kAsAllocated, true, allocated, bytes);
    EXPECT_EQ(timed % 256, 0) << bytes;
    EXPECT_LE(timed + bytes, allocated) << bytes;
    EXPECT_LT(allocated - timed - bytes, 256) << bytes;
    const uint64_t least = OffsetOfMatrix(Alignment::kLeast, true, allocated, bytes);
    EXPECT_EQ(least % 32, 16) << bytes;
    EXPECT_LE(least + bytes, allocated) << bytes;
    EXPECT_LT(allocated - least - bytes, 32) << bytes;
    EXPECT_GE(std::min(timed, least), kGuardBytes) << bytes;
  }
}

TEST(OffsetOfMatrix, TheOutputHasCanariesOnBothSides) {
  for (const uint64_t bytes : {2, 1000, 1 << 20})
    for (const Alignment alignment : kAlignments) {
      const uint64_t allocated = AllocatedFor(bytes), place = OffsetOfMatrix(alignment, false, allocated, bytes);
      EXPECT_GE(place, kGuardBytes);
      EXPECT_GE(allocated - place - bytes, kGuardBytes - 16);
      EXPECT_EQ(place % 32, alignment == Alignment::kLeast ? 16 : 0);
    }
}

}  // namespace
}  // namespace gemmsmith
