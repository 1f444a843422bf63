#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace gemmsmith {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status Both(int first, int second) {
  RETURN_IF_ERROR(Half(first).status());
  RETURN_IF_ERROR(Half(second).status());
  return OkStatus();
}

TEST(Status, ErrorsTravelThroughTheMacros) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_TRUE(Both(2, 4).ok());
  EXPECT_FALSE(Both(2, 3).ok());
}

TEST(Status, AResultHoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(StatusDeathTest, TheValueOfAFailureIsABug) {
  EXPECT_DEATH((void)*Half(3), "value\\(\\) of a failed Result: odd");
  EXPECT_DEATH(static_cast<void>(Result<int>{OkStatus()}), "needs a reason");
}

}  // namespace
}  // namespace gemmsmith
