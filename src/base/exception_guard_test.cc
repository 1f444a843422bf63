#include "base/exception_guard.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gemmsmith {
namespace {

TEST(ExceptionGuardTest, WhatIsThrownEndsAsTheValueOfFailureAndOneLine) {
  ExceptionGuard guarded;
  EXPECT_EQ(guarded([] { return 0; }, 1), 0);
  EXPECT_EQ(guarded.last_error(), "");
  EXPECT_EQ(guarded([]() -> int { throw std::runtime_error("no room\nframe #0: somewhere"); }, 1), 1);
  EXPECT_EQ(guarded.last_error(), "no room");
  EXPECT_EQ(guarded([]() -> void* { throw 7; }, nullptr), nullptr);
  EXPECT_EQ(guarded.last_error(), "it threw something that is no std::exception");
}

}  // namespace
}  // namespace gemmsmith
