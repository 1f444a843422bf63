#include "policy/prior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "policy/contexts.h"
#include "program/cost.h"

namespace gemmsmith {
namespace {

const Gemm kGemm = {.shape = {256, 512, 4096}};
const Device& H200() { return KnownDevices()[0]; }
Space SomeSpace() { return Space(RankedPlans(kGemm, H200(), 60)); }
double Predicted(const Plan& plan) { return PredictTimeNs(plan, kGemm, H200()); }

// What its words are believed together.
double BeliefIn(const Plan& plan, const PlanMask& mask) {
  PlanPrefix prefix;
  double sum = 0;
  for (const Token token : EncodePlan(plan)) {
    const AllowedWords allowed = mask.AllowedAfter(prefix);
    const auto word = std::find(allowed.words.begin(), allowed.words.end(), token);
    EXPECT_NE(word, allowed.words.end());
    sum += allowed.beliefs[size_t(word - allowed.words.begin())];
    prefix.Take(token);
  }
  return sum;
}

TEST(PriorTest, AllWordsOfAPlanAreBelievedAsMuchAsItsPredictedTimeSays) {
  const Space space = SomeSpace();
  const auto mask = MaskWithPrior(kGemm, H200(), space, {});
  double best_ns = INFINITY;
  for (const Plan& plan : space.plans()) best_ns = std::min(best_ns, Predicted(plan));
  for (const Plan& plan : space.plans())
    EXPECT_NEAR(BeliefIn(plan, *mask), -kFaith * std::log(Predicted(plan) / best_ns), 1e-3) << Print(plan);
}

TEST(PriorTest, WhoIsStruckOffIsNoMeasureForTheOthers) {
  const Space space = SomeSpace();
  const auto mask = MaskWithPrior(kGemm, H200(), space, {});
  std::vector<Plan> plans = space.plans();
  std::ranges::sort(plans, {}, Predicted);
  EXPECT_NEAR(BeliefIn(plans[0], *mask), 0, 1e-5);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(mask->Strike(plans[size_t(i)]));
  EXPECT_NEAR(BeliefIn(plans[5], *mask), 0, 1e-5);
}

TEST(PriorTest, WhatIsKnownCorrectsIt) {
  const Space space = SomeSpace();
  const Plan& known = *std::ranges::min_element(space.plans(), {}, Predicted);
  const double before = BeliefIn(known, *MaskWithPrior(kGemm, H200(), space, {}));
  const Exemplar slow{known, {.kind = OutcomeKind::kMeasured, .score = ScoreOf(kGemm, H200(), 2 * Predicted(known))}};
  EXPECT_LT(BeliefIn(known, *MaskWithPrior(kGemm, H200(), space, std::span(&slow, 1))), before - 0.05 * kFaith);
  const Exemplar failed{known, {.kind = OutcomeKind::kWrong, .stage = "binary"}};
  EXPECT_NEAR(BeliefIn(known, *MaskWithPrior(kGemm, H200(), space, std::span(&failed, 1))), before, 1e-6);
}

TEST(PriorTest, WhatIsIllegalIsBelievedLeastAndNotRuledOut) {
  std::vector<Plan> plans = RankedPlans(kGemm, H200(), 3);
  Plan illegal = plans.front();
  for (const int value : GetFamily(illegal.family).parameters[0].values)
    if (illegal.values[0] = value; !IsLegal(illegal, kGemm, H200())) break;
  ASSERT_FALSE(IsLegal(illegal, kGemm, H200()));
  plans.push_back(illegal);
  const Space space(plans);
  const std::vector<float> beliefs =
      BeliefsOf(Forecast({.gemm = kGemm, .device = H200(), .space = &space}), space.size());
  const float of_illegal = beliefs[*space.IndexOf(illegal)];
  EXPECT_EQ(of_illegal, *std::ranges::min_element(beliefs));
  EXPECT_TRUE(std::isfinite(of_illegal));
}

}  // namespace
}  // namespace gemmsmith
