#include "evaluate/time/warm_up.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace gemmsmith {
namespace {

constexpr double kLongEnough = 60;  // for rounds that take no time

// Rounds whose second entry swings by this much, one after the other; then by nothing.
class Swinging {
 public:
  explicit Swinging(std::vector<double> swings) : swings_(std::move(swings)) {}
  TimeRound Rounds() {
    return [this](std::span<const size_t> order) -> Result<std::vector<double>> {
      orders.emplace_back(order.begin(), order.end());
      const double swing = orders.size() <= swings_.size() ? swings_[orders.size() - 1] : 0;
      return std::vector<double>{1e6, 2e6 * (1 + swing)};
    };
  }
  std::vector<std::vector<size_t>> orders;

 private:
  std::vector<double> swings_;
};

TEST(RunWarmUpTest, WhereNobodyLooksOneRoundIsEnoughForNoTime) {
  Swinging swinging({0.1, -0.1});
  ASSERT_TRUE(RunWarmUp({}, 2, swinging.Rounds()).ok());
  EXPECT_EQ(swinging.orders.size(), 1u);
}

TEST(RunWarmUpTest, SteadyRoundsAreTwo) {
  Swinging swinging({});
  ASSERT_TRUE(RunWarmUp({.most_seconds_until_steady = kLongEnough}, 2, swinging.Rounds()).ok());
  EXPECT_EQ(swinging.orders.size(), 2u);
}

TEST(RunWarmUpTest, GoesOnWhileRoundsSwing) {
  Swinging swinging({0.05, -0.05, 0.04, -0.03, 0.01});
  ASSERT_TRUE(RunWarmUp({.most_seconds_until_steady = kLongEnough}, 2, swinging.Rounds()).ok());
  EXPECT_EQ(swinging.orders.size(), 6u) << "the fifth differs from the fourth, the sixth not from it";
}

// Rounds of ten entries, `swinging` of them by `swing` until the fifth.
int RoundsOfTen(int swinging, double swing) {
  int rounds = 0;
  const TimeRound ten = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    std::vector<double> times(10, 1e6);
    if (++rounds <= 4)
      for (int i = 0; i < swinging; ++i) times[size_t(i)] *= 1 + swing * (rounds % 2);
    return times;
  };
  EXPECT_TRUE(RunWarmUp({.most_seconds_until_steady = kLongEnough}, 10, ten).ok());
  return rounds;
}

TEST(RunWarmUpTest, WhatSwingsIsAllOfThemTogether) {
  EXPECT_EQ(RoundsOfTen(10, 0.02), 5);
  EXPECT_EQ(RoundsOfTen(10, 0.01), 2) << "as much as windows at rest";
  EXPECT_EQ(RoundsOfTen(1, 0.03), 2) << "the one of ten that scatters most";
  EXPECT_EQ(RoundsOfTen(1, 0.1), 5);
}

TEST(RunWarmUpTest, OrdersAreMirroredSoThatASwingOfOneRoundIsSeen) {
  Swinging swinging({0.05, -0.05});
  ASSERT_TRUE(RunWarmUp({.most_seconds_until_steady = kLongEnough}, 2, swinging.Rounds()).ok());
  ASSERT_GE(swinging.orders.size(), 3u);
  EXPECT_EQ(swinging.orders[0], (std::vector<size_t>{0, 1}));
  EXPECT_EQ(swinging.orders[1], (std::vector<size_t>{1, 0}));
  EXPECT_EQ(swinging.orders[2], (std::vector<size_t>{0, 1}));
}

TEST(RunWarmUpTest, WhatNeverComesToRestEndsInTime) {
  int rounds = 0;
  const TimeRound never = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::vector<double>{++rounds % 2 == 0 ? 1e6 : 2e6};
  };
  ASSERT_TRUE(RunWarmUp({.most_seconds_until_steady = 0.02}, 1, never).ok());
  EXPECT_GT(rounds, 1);
  EXPECT_LE(rounds, 20);
}

TEST(RunWarmUpTest, SteadyRoundsGoOnForTheSecondsThatAreAskedFor) {
  int rounds = 0;
  const TimeRound steady = [&](std::span<const size_t>) -> Result<std::vector<double>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++rounds;
    return std::vector<double>{1e6};
  };
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(RunWarmUp({.least_seconds = 0.05}, 1, steady).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
  EXPECT_GT(rounds, 1);
}

TEST(RunWarmUpTest, AClockThatFailsEndsIt) {
  const TimeRound broken = [](std::span<const size_t>) -> Result<std::vector<double>> { return Unavailable("gone"); };
  EXPECT_EQ(RunWarmUp({.most_seconds_until_steady = kLongEnough}, 1, broken).message(), "gone");
}

}  // namespace
}  // namespace gemmsmith
