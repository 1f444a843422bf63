#include "evaluate/time/cold.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kL2 = 60 * kMiB;

TEST(ColdPlan, SetsTakenTogetherAreLargerThanTwiceL2) {
  for (const uint64_t set_bytes : {2 * kMiB, 5 * kMiB, 59 * kMiB, 119 * kMiB}) {
    const ColdPlan plan = ColdPlan::For(set_bytes, kL2);
    EXPECT_GT(uint64_t(plan.sets) * set_bytes, 2 * kL2) << set_bytes;
    EXPECT_LE(uint64_t(plan.sets - 1) * set_bytes, 2 * kL2) << set_bytes;
    EXPECT_FALSE(plan.once_each);
    EXPECT_EQ(plan.CallsIn(7), 7);
  }
}

TEST(ColdPlan, LargeOperandsHaveTwoSets) {
  EXPECT_EQ(ColdPlan::For(1500 * kMiB, kL2).sets, 2);
  EXPECT_FALSE(ColdPlan::For(1500 * kMiB, kL2).once_each);
}

TEST(ColdPlan, OfSmallOperandsABatchCallsOnceOnEachOfSixtyFour) {
  for (const uint64_t set_bytes : {uint64_t{0}, uint64_t{24'576}, kMiB}) {
    const ColdPlan plan = ColdPlan::For(set_bytes, kL2);
    EXPECT_EQ(plan.sets, 64);
    EXPECT_TRUE(plan.once_each);
    EXPECT_EQ(plan.CallsIn(200), 64);
    EXPECT_EQ(plan.CallsIn(3), 64);
  }
}

}  // namespace
}  // namespace gemmsmith
