#include "policy/rewards.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

Outcome Measured(double ours_ns, double nn_ns, double tn_ns) {
  Outcome outcome{.kind = OutcomeKind::kMeasured};
  outcome.timings = {{.contender = "ours", .median_ns = ours_ns},
                     {.contender = "lt_auto_nn", .median_ns = nn_ns},
                     {.contender = "lt_auto_tn", .median_ns = tn_ns}};
  return outcome;
}

TEST(RewardsTest, TheFastestBaselineOfTheSameLayoutIsTheMeasure) {
  Outcome outcome = Measured(1000, 1500, 900);
  EXPECT_DOUBLE_EQ(*SpeedUpOf(outcome, kNn), 1.5);
  EXPECT_DOUBLE_EQ(*SpeedUpOf(outcome, kTn), 0.9);
  outcome.timings.push_back({.contender = "cublas_nn", .median_ns = 1200});
  EXPECT_DOUBLE_EQ(*SpeedUpOf(outcome, kNn), 1.2);
  outcome.comparisons.push_back({"cublas_nn", Clock::kDevice, {.median = 1.2, .mean = 1.21}});
  EXPECT_DOUBLE_EQ(*SpeedUpOf(outcome, kNn), 1.21);  // paired samples where there are any
  outcome.timings.resize(1);
  EXPECT_FALSE(SpeedUpOf(outcome, kNn));
  EXPECT_FALSE(RewardOf(outcome, kNn, {}));
}

TEST(RewardsTest, ErrorsAndLongCodeCost) {
  Outcome outcome = Measured(1000, 1500, 900);
  outcome.verdict.max_abs_error = 0.5;
  outcome.facts.instructions = 2000;
  EXPECT_NEAR(*RewardOf(outcome, kNn, {.alpha = 0.1, .beta = 0.01}), 1.5 - 0.05 - 0.02, 1e-12);
}

TEST(RewardsTest, TheFurtherACandidateComesTheMoreItGets) {
  double last = -2;
  for (const OutcomeKind kind :
       {OutcomeKind::kIllegal, OutcomeKind::kCompileFailed, OutcomeKind::kResourceOver, OutcomeKind::kLaunchFailed,
        OutcomeKind::kTimedOut, OutcomeKind::kWrong, OutcomeKind::kVerified}) {
    const double reward = *RewardOf(Outcome{.kind = kind}, kTn, {});
    EXPECT_GT(reward, last) << Name(kind);
    last = reward;
  }
  EXPECT_GT(*RewardOf(Measured(1e6, 1, 1), kTn, {}), last);
  EXPECT_EQ(*RewardOf(Outcome{.kind = OutcomeKind::kCheated}, kTn, {}), -1);
}

TEST(RewardsTest, RewardsOfAProblemAreInDeviationsAndClipped) {
  const std::vector<double> rewards = {1, 2, 3};
  const RewardScale scale = ScaleOf(rewards);
  EXPECT_DOUBLE_EQ(scale.Of(2), 0);
  EXPECT_DOUBLE_EQ(scale.Of(3), 1);
  EXPECT_DOUBLE_EQ(scale.Of(100), 1.5);
  EXPECT_DOUBLE_EQ(scale.Of(-100), -1.5);
  const std::vector<double> same = {2, 2, 2};
  EXPECT_DOUBLE_EQ(ScaleOf(same).Of(2), 0);
}

TEST(RewardsTest, AdvantagesHaveNoMeanAndAGroupOfEqualsTeachesNothing) {
  const std::vector<double> advantages = Advantages(std::vector<double>{1, 2, 6});
  EXPECT_NEAR(advantages[0] + advantages[1] + advantages[2], 0, 1e-12);
  EXPECT_GT(advantages[2], 1);
  EXPECT_EQ(Advantages(std::vector<double>{3, 3}), std::vector<double>({0, 0}));
}

}  // namespace
}  // namespace gemmsmith
