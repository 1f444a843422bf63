#include "ship/deadline.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(DeadlineTest, KeepsRoomForTwoOfTheLongestCalls) {
  Deadline deadline(100);
  EXPECT_FALSE(deadline.Passed(99));
  EXPECT_TRUE(deadline.Passed(100));
  deadline.AddCall(30);
  deadline.AddCall(10);
  EXPECT_FALSE(deadline.Passed(39));
  EXPECT_TRUE(deadline.Passed(40));
}

TEST(DeadlineTest, NeverPassesWithoutALimit) {
  Deadline deadline(std::nullopt);
  deadline.AddCall(1e6);
  EXPECT_FALSE(deadline.Passed(1e9));
}

}  // namespace
}  // namespace gemmsmith
