#include "ship/closing_time.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(ClosingTimeTest, KeepsRoomForTwoOfTheLongestCalls) {
  ClosingTime closing(100);
  EXPECT_FALSE(closing.HasCome(99));
  EXPECT_TRUE(closing.HasCome(100));
  closing.Took(30);
  closing.Took(10);
  EXPECT_FALSE(closing.HasCome(39));
  EXPECT_TRUE(closing.HasCome(40));
}

TEST(ClosingTimeTest, NeverComesWithoutALimit) {
  ClosingTime closing(std::nullopt);
  closing.Took(1e6);
  EXPECT_FALSE(closing.HasCome(1e9));
}

}  // namespace
}  // namespace gemmsmith
