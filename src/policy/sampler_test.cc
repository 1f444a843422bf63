#include "policy/sampler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "policy/contexts.h"
#include "policy/reference_forward.h"
#include "problem/example_device.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

const Gemm kSampledGemm = {.shape = {256, 512, 4096}};

PolicyModel SmallModel() {
  PolicyModel model = NewModel(
      {.words = int(TokenVocabulary().size()), .positions = 64, .width = 32, .layers = 2, .heads = 2, .hidden = 64}, 5);
  for (float& value : model.embedding) value *= 20;  // so that some words are likelier than others
  return model;
}

std::vector<Token> SomeContext() { return EncodeContext({.gemm = kSampledGemm, .device = FactsOf(H200())}); }

double LogProbability(const PolicyModel& model, const std::vector<Token>& context, const Plan& plan,
                      const PlanMask& mask) {
  std::vector<Token> tokens = context;
  PlanPrefix prefix;
  double sum = 0;
  for (const Token token : EncodePlan(plan)) {
    const std::vector<double> logits = ReferenceLogits(model, tokens).back();
    double all = 0;
    for (const Token allowed : mask.AllowedAfter(prefix).words) all += std::exp(logits[allowed] - logits[token]);
    sum -= std::log(all);
    prefix.Take(token);
    tokens.push_back(token);
  }
  return sum;
}

TEST(SamplerTest, LogProbabilitiesAreThoseOfThePlainDefinition) {
  const PolicyModel model = SmallModel();
  const AnyPlanMask mask;
  const SampleRequest request{SomeContext(), &mask};
  const auto plans = SamplePlans(model, std::span(&request, 1), {.plans = 8, .seed = 3});
  for (const SampledPlan& sampled : plans[0])
    EXPECT_NEAR(sampled.log_probability, LogProbability(model, request.context, sampled.plan, mask), 1e-3);
}

TEST(SamplerTest, PlansKeepToTheirRequestsMasks) {
  const PolicyModel model = SmallModel();
  const std::vector<Plan> ranked = RankedPlans(kSampledGemm, H200(), 256);
  const LegalPlanMask legal(kSampledGemm, H200(), ranked);
  const Space space(std::vector<Plan>(ranked.begin(), ranked.begin() + 20));
  const SpacePlanMask of_space(space);
  const std::vector<SampleRequest> requests = {{SomeContext(), &legal}, {SomeContext(), &of_space}};
  const auto plans = SamplePlans(model, requests, {.plans = 32});
  ASSERT_EQ(plans[0].size(), 32u);
  ASSERT_EQ(plans[1].size(), 32u);
  for (const SampledPlan& sampled : plans[0]) EXPECT_TRUE(IsLegal(sampled.plan, kSampledGemm, H200()));
  for (const SampledPlan& sampled : plans[1]) EXPECT_TRUE(space.Contains(sampled.plan));
}

TEST(SamplerTest, AMaskWithoutPlansGivesNone) {
  const Space space({});
  const SpacePlanMask mask(space);
  const SampleRequest request{SomeContext(), &mask};
  EXPECT_TRUE(SamplePlans(SmallModel(), std::span(&request, 1), {})[0].empty());
}

TEST(SamplerTest, TheSameSeedGivesTheSamePlansAndAnotherOneOthers) {
  const PolicyModel model = SmallModel();
  const AnyPlanMask mask;
  const std::vector<SampleRequest> requests(7, {SomeContext(), &mask});
  const auto texts = [&](uint64_t seed) {
    std::string text;
    for (const auto& plans : SamplePlans(model, requests, {.plans = 4, .seed = seed}))
      for (const SampledPlan& sampled : plans)
        text += fmt::format("{} {}\n", Print(sampled.plan), sampled.log_probability);
    return text;
  };
  EXPECT_EQ(texts(1), texts(1));
  EXPECT_NE(texts(1), texts(2));
}

TEST(SamplerTest, ALowTemperatureKeepsToTheLikeliestWords) {
  const PolicyModel model = SmallModel();
  const AnyPlanMask mask;
  const SampleRequest request{SomeContext(), &mask};
  const auto plans = SamplePlans(model, std::span(&request, 1), {.plans = 8, .temperature = 1e-4})[0];
  for (const SampledPlan& sampled : plans) EXPECT_EQ(sampled.plan, plans[0].plan);
}

// Not a bound, which busy machines would break, but a number to read: docs/policy_model.md holds it.
}  // namespace
}  // namespace gemmsmith
