#include "base/stop_rule.h"

#include <gtest/gtest.h>

#include <utility>

namespace gemmsmith {
namespace {

TEST(StopRuleTest, EachStopsAtItsLimitAndSaysWhy) {
  EXPECT_FALSE(StopAfterEvaluations(3)->ShouldStop({.evaluations = 2}));
  EXPECT_EQ(StopAfterEvaluations(3)->ShouldStop({.evaluations = 3}), "budget of 3 evaluations used");
  EXPECT_FALSE(StopAfterSeconds(1.5)->ShouldStop({.seconds = 1.4}));
  EXPECT_EQ(StopAfterSeconds(1.5)->ShouldStop({.seconds = 1.5}), "budget of 1.5 s used");
}

TEST(StopRuleTest, ATestStopsAsSoonAsItIsTrue) {
  bool is_over = false;
  const std::unique_ptr<StopRule> rule = StopWhen([&] { return is_over; }, "over");
  EXPECT_FALSE(rule->ShouldStop({.evaluations = 100, .seconds = 100}));
  is_over = true;
  EXPECT_EQ(rule->ShouldStop({}), "over");
}

TEST(StopRuleTest, AnyStopsWithTheFirstReason) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterSeconds(10));
  rules.push_back(StopAfterEvaluations(5));
  const std::unique_ptr<StopRule> any = StopOnAny(std::move(rules));
  EXPECT_FALSE(any->ShouldStop({.evaluations = 4, .seconds = 9}));
  EXPECT_EQ(any->ShouldStop({.evaluations = 5, .seconds = 9}), "budget of 5 evaluations used");
  EXPECT_EQ(any->ShouldStop({.evaluations = 5, .seconds = 10}), "budget of 10 s used");
}

TEST(StopRuleTest, ABudgetSaysBeforehandHowMuchIsLeft) {
  EXPECT_EQ(StopAfterEvaluations(3)->EvaluationsLeft({.evaluations = 2}), 1);
  EXPECT_EQ(StopAfterEvaluations(3)->EvaluationsLeft({.evaluations = 7}), 0);
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterSeconds(1));
  EXPECT_GT(StopAfterSeconds(1)->EvaluationsLeft({}), 1 << 20);
  rules.push_back(StopAfterEvaluations(5));
  EXPECT_EQ(StopOnAny(std::move(rules))->EvaluationsLeft({}), 5);
}

}  // namespace
}  // namespace gemmsmith
