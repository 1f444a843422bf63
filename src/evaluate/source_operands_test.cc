#include "evaluate/source_operands.h"

#include <gtest/gtest.h>

#include <set>

namespace gemmsmith {
namespace {

TEST(LeastAlignedOffset, IsAnOddMultipleOf16NearTheEnd) {
  constexpr uint64_t kAllocated = 4096;
  for (const uint64_t bytes : {2, 16, 30, 1024, 1026, 2048})
    for (uint64_t steps = 0; steps < 8; ++steps) {
      const uint64_t offset = LeastAlignedOffset(kAllocated, bytes, steps);
      EXPECT_EQ(offset % 32, 16u) << bytes;
      EXPECT_LE(offset + bytes, kAllocated) << bytes;
      EXPECT_LT(kAllocated - (offset + bytes), 48 + 32 * steps) << bytes;
    }
}

TEST(LeastAlignedOffset, StepsReachEverySuchAlignmentWithin256Bytes) {
  std::set<uint64_t> alignments;
  for (uint64_t steps = 0; steps < 8; ++steps) alignments.insert(LeastAlignedOffset(4096, 100, steps) % 256);
  EXPECT_EQ(alignments.size(), 8u);
}

TEST(LastOffset, LeavesLessThan16BytesBehind) {
  constexpr uint64_t kAllocated = 4096;
  EXPECT_EQ(LastOffset(kAllocated, 1024), kAllocated - 1024);
  for (const uint64_t bytes : {2, 16, 30, 1026, 4096}) {
    const uint64_t offset = LastOffset(kAllocated, bytes);
    EXPECT_EQ(offset % 16, 0u) << bytes;
    EXPECT_LE(offset + bytes, kAllocated) << bytes;
    EXPECT_GT(offset + bytes + 16, kAllocated) << bytes;
  }
}

}  // namespace
}  // namespace gemmsmith
