#include "policy/prior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "policy/contexts.h"
#include "policy/plan_mask.h"
#include "policy/tokens.h"
#include "problem/example_device.h"
#include "program/cost.h"

namespace gemmsmith {
namespace {

const Gemm kForecastGemm = {.shape = {256, 512, 4096}};
Space SomeSpace() { return Space(RankedPlans(kForecastGemm, H200(), 60)); }
double Predicted(const Plan& plan) { return PredictTimeNs(plan, kForecastGemm, H200()); }

std::unique_ptr<SpacePlanMask> MaskWithPrior(const Space& space, const std::optional<Exemplar>& known = std::nullopt) {
  Forecast forecast({.gemm = kForecastGemm, .device = H200(), .space = &space});
  if (known) forecast.Learn(known->plan, TimeOf(kForecastGemm, H200(), *known->judged.score));
  auto mask = std::make_unique<SpacePlanMask>(space);
  mask->SetLogPrior(LogPriorOf(forecast));
  return mask;
}

// The sum over its words.
double LogPriorIn(const Plan& plan, const PlanMask& mask) {
  PlanPrefix prefix;
  double sum = 0;
  for (const Token token : EncodePlan(plan)) {
    const AllowedWords allowed = mask.AllowedAfter(prefix);
    const auto word = std::find(allowed.words.begin(), allowed.words.end(), token);
    EXPECT_NE(word, allowed.words.end());
    sum += allowed.log_prior[size_t(word - allowed.words.begin())];
    prefix.Take(token);
  }
  return sum;
}

TEST(PriorTest, TheWordsOfAPlanTogetherAreBelievedByItsPredictedTime) {
  const Space space = SomeSpace();
  const auto mask = MaskWithPrior(space);
  double best_ns = INFINITY;
  for (const Plan& plan : space.plans()) best_ns = std::min(best_ns, Predicted(plan));
  for (const Plan& plan : space.plans())
    EXPECT_NEAR(LogPriorIn(plan, *mask), -kPriorStrength * std::log(Predicted(plan) / best_ns), 1e-3) << Print(plan);
}

TEST(PriorTest, BeliefsAreRelativeToTheBestPlanThatIsNotStruckOff) {
  const Space space = SomeSpace();
  const auto mask = MaskWithPrior(space);
  std::vector<Plan> plans = space.plans();
  std::ranges::sort(plans, {}, Predicted);
  EXPECT_NEAR(LogPriorIn(plans[0], *mask), 0, 1e-5);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(mask->Strike(plans[size_t(i)]));
  EXPECT_NEAR(LogPriorIn(plans[5], *mask), 0, 1e-5);
}

TEST(PriorTest, AMeasurementCorrectsIt) {
  const Space space = SomeSpace();
  const Plan& known = *std::ranges::min_element(space.plans(), {}, Predicted);
  const double before = LogPriorIn(known, *MaskWithPrior(space));
  const Exemplar slow{known,
                      {.kind = OutcomeKind::kMeasured, .score = ScoreOf(kForecastGemm, H200(), 2 * Predicted(known))}};
  EXPECT_LT(LogPriorIn(known, *MaskWithPrior(space, slow)), before - 0.05 * kPriorStrength);
}

TEST(PriorTest, IllegalPlansAreBelievedLeastAndNotRuledOut) {
  std::vector<Plan> plans = RankedPlans(kForecastGemm, H200(), 3);
  Plan illegal = plans.front();
  for (const int value : GetFamily(illegal.family).axes[0].live_values())
    if (illegal.values[0] = value; !IsLegal(illegal, kForecastGemm, H200())) break;
  ASSERT_FALSE(IsLegal(illegal, kForecastGemm, H200()));
  plans.push_back(illegal);
  const Space space(plans);
  const std::vector<float> log_prior = LogPriorOf(Forecast({.gemm = kForecastGemm, .device = H200(), .space = &space}));
  const float of_illegal = log_prior[*space.IndexOf(illegal)];
  EXPECT_EQ(of_illegal, *std::ranges::min_element(log_prior));
  EXPECT_TRUE(std::isfinite(of_illegal));
}

}  // namespace
}  // namespace gemmsmith
