#include "policy/policy_proposer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "policy/vocabulary.h"
#include "program/cost.h"
#include "search/experience.h"
#include "search/recorded_problem.h"

namespace gemmsmith {
namespace {

std::shared_ptr<const PolicyModel> SharedModel(int positions = 512) {
  return std::make_shared<PolicyModel>(
      NewModel({int(TokenVocabulary().size()), positions, /*width=*/16, /*layers=*/1, /*heads=*/2, /*hidden=*/32}, 1));
}

std::unique_ptr<Proposer> SomeProposer(const Space& space, uint64_t seed) {
  return *MakePolicyProposer(
      SharedModel(), {.gemm = {.shape = {64, 64, 64}}, .device = KnownDevices()[0], .space = &space, .seed = seed});
}

// Every plan that was proposed, in order; each is observed before the next call.
std::vector<Plan> AllOf(Proposer& proposer, const Space& space) {
  std::vector<Plan> all;
  for (std::vector<Plan> plans; !(plans = proposer.Propose(7)).empty();) {
    for (const Plan& plan : plans) {
      proposer.Observe(plan, all.size() % 5 == 4 ? FailedOutcome(OutcomeKind::kWrong, "off by one")
                                                 : MeasuredOutcome(BowlNs(space, plan)));
      all.push_back(plan);
    }
  }
  return all;
}

TEST(PolicyProposerTest, ProposesEveryPlanOfTheSpaceOnce) {
  const Space space = SyntheticSpace(3);
  const std::vector<Plan> plans = AllOf(*SomeProposer(space, 1), space);
  EXPECT_EQ(plans.size(), space.size());
  EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), space.size());
  for (const Plan& plan : plans) EXPECT_TRUE(space.Contains(plan));
}

TEST(PolicyProposerTest, TheSameSeedGivesTheSameOrderAndAnotherOneAnother) {
  const Space space = SyntheticSpace(3);
  EXPECT_EQ(AllOf(*SomeProposer(space, 1), space), AllOf(*SomeProposer(space, 1), space));
  EXPECT_NE(AllOf(*SomeProposer(space, 1), space), AllOf(*SomeProposer(space, 2), space));
}

TEST(PolicyProposerTest, WhatSomebodyElseProposedDoesNotComeAgain) {
  const Space space = SyntheticSpace(2);
  const std::unique_ptr<Proposer> proposer = SomeProposer(space, 1);
  proposer->Observe(space.plans()[3], MeasuredOutcome(1000));
  const std::vector<Plan> plans = AllOf(*proposer, space);
  EXPECT_EQ(plans.size(), space.size() - 1);
  EXPECT_EQ(std::count(plans.begin(), plans.end(), space.plans()[3]), 0);
}

TEST(PolicyProposerTest, WhatWasTrainedWithoutContrastIsShownNoEarlierPlan) {
  const Space space = SyntheticSpace(3);
  const auto order = [&](const Ablations& ablations, double slope) {
    PolicyModel model = *SharedModel();
    for (const NamedWeights& weights : WeightsOf(model))
      for (float& value : *weights.values) value *= 20;  // so that contexts matter
    model.ablations = ablations;
    const std::unique_ptr<Proposer> proposer =
        *MakePolicyProposer(std::make_shared<PolicyModel>(std::move(model)),
                            {.gemm = {.shape = {64, 64, 64}}, .device = KnownDevices()[0], .space = &space});
    std::vector<Plan> all;
    for (std::vector<Plan> plans; !(plans = proposer->Propose(4)).empty();) {
      for (const Plan& plan : plans) {
        proposer->Observe(plan, MeasuredOutcome(1e5 + slope * double(all.size())));
        all.push_back(plan);
      }
    }
    return all;
  };
  EXPECT_EQ(order({.contrast = true, .prior = true}, 1000), order({.contrast = true, .prior = true}, -1000));
  EXPECT_NE(order({.prior = true}, 1000), order({.prior = true}, -1000));
}

TEST(PolicyProposerTest, BeginsWithWhatIsPredictedToBeFastWhereItHasAPrior) {
  const Gemm gemm{.shape = {256, 512, 4096}};
  const Device& device = KnownDevices()[0];
  const Space space(RankedPlans(gemm, device, kLiveSpaceSize));
  const auto mean_predicted = [&](const Ablations& ablations) {
    PolicyModel model = *SharedModel();
    model.ablations = ablations;
    const std::unique_ptr<Proposer> proposer = *MakePolicyProposer(
        std::make_shared<PolicyModel>(std::move(model)), {.gemm = gemm, .device = device, .space = &space, .seed = 1});
    double sum_ns = 0;
    const std::vector<Plan> plans = proposer->Propose(8);
    for (const Plan& plan : plans) sum_ns += PredictTimeNs(plan, gemm, device);
    return sum_ns / double(plans.size());
  };
  const double best_ns = PredictTimeNs(RankedPlans(gemm, device, 1).front(), gemm, device);
  EXPECT_LT(mean_predicted({}), 1.05 * best_ns);
  EXPECT_GT(mean_predicted({.prior = true}), 1.1 * best_ns);
}

// On a problem next to it the plans that are predicted fastest took twice as long as that.
TEST(PolicyProposerTest, BeginsWithWhatWasFastOnProblemsNearbyWhereItHasExperience) {
  const Gemm gemm{.shape = {256, 512, 4096}}, next{.shape = {256, 512, 2048}};
  const Device& device = KnownDevices()[0];
  const Space space(RankedPlans(gemm, device, 300));
  const std::vector<Plan> plans = RankedPlans(next, device, 300);
  const Plan fastest = RankedPlans(gemm, device, 1)[0];
  const auto is_let_down = [&](const Plan& plan) { return plan.Get("tile_n") == fastest.Get("tile_n"); };
  std::vector<Trial> trials;
  for (const Plan& plan : plans)
    trials.push_back(
        RecordedTrial(next, plan, MeasuredOutcome((is_let_down(plan) ? 2 : 1) * PredictTimeNs(plan, next, device))));
  Experience experience;
  experience.Add(*Recording::FromTrials(std::move(trials)), {});
  const auto let_down_among_first = [&](const Experience* known) {
    const std::unique_ptr<Proposer> proposer = *MakePolicyProposer(
        SharedModel(), {.gemm = gemm, .device = device, .space = &space, .seed = 1, .experience = known});
    return std::ranges::count_if(proposer->Propose(8), is_let_down);
  };
  EXPECT_GE(let_down_among_first(nullptr), 6);
  EXPECT_LE(let_down_among_first(&experience), 2);
}

TEST(PolicyProposerTest, AModelThatReadsTooLittleIsRefused) {
  const Space space = SyntheticSpace(1);
  const auto proposer = MakePolicyProposer(
      SharedModel(64), {.gemm = {.shape = {64, 64, 64}}, .device = KnownDevices()[0], .space = &space});
  ASSERT_FALSE(proposer.ok());
  EXPECT_TRUE(proposer.status().message().starts_with("the policy reads 64 words, a context with a plan may have "))
      << proposer.status().message();
}

}  // namespace
}  // namespace gemmsmith
