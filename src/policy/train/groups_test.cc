#include "policy/train/groups.h"

#include <gtest/gtest.h>

#include <cmath>

#include "archive/example_trials.h"
#include "policy/vocabulary.h"
#include "search/experience.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

std::vector<RecordedProblem> SomeProblems() { return RecordedProblems(ExampleTrials(1200), {}, {}); }

// The plans that the mask leads to.
std::set<Plan> DrawnFrom(const PlanGroup& group, int tries) {
  std::set<Plan> drawn;
  Random random(9);
  for (int i = 0; i < tries; ++i) {
    PlanPrefix prefix;
    while (!prefix.IsWhole()) {
      const AllowedWords allowed = group.mask->AllowedAfter(prefix);
      prefix.Take(allowed.words[random.Below(allowed.words.size())]);
    }
    drawn.insert(prefix.plan());
  }
  return drawn;
}

// In all words along one of the plans.
std::vector<float> LogPriorsIn(const PlanGroup& group) {
  std::vector<float> log_prior;
  for (PlanPrefix prefix; !prefix.IsWhole();) {
    const AllowedWords allowed = group.mask->AllowedAfter(prefix);
    log_prior.insert(log_prior.end(), allowed.log_prior.begin(), allowed.log_prior.end());
    prefix.Take(allowed.words.back());
  }
  return log_prior;
}

size_t ChoicesIn(const PlanGroup& group, const Plan& plan) {
  size_t choices = 0;
  PlanPrefix prefix;
  for (const Token token : EncodePlan(plan)) {
    choices += group.mask->AllowedAfter(prefix).words.size() > 1 ? 1 : 0;
    prefix.Take(token);
  }
  return choices;
}

TEST(GroupsTest, WhatIsKnownIsNotDrawnAgainAndSomethingIsLeft) {
  const std::vector<RecordedProblem> problems = SomeProblems();
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  Random random(1);
  size_t known = 0;
  for (const PlanGroup& group : DrawGroups(problems, 60, {}, {}, *judge, random)) {
    EXPECT_LE(group.known.size(), 32u);
    EXPECT_LE(group.known.size() + 2, group.space->size());
    known += group.known.size();
    const std::set<Plan> drawn = DrawnFrom(group, 50);
    EXPECT_FALSE(drawn.empty());
    for (const Plan& plan : drawn) {
      EXPECT_TRUE(group.MayDraw(plan));
      EXPECT_TRUE(group.problem->plans.contains(plan));
    }
  }
  EXPECT_GT(known, 60u);
}

// What was recorded of a problem is what it is to teach, and where it will be asked all of a size is unknown.
TEST(GroupsTest, ThePriorHasExperienceOfOtherShapesLessOneSize) {
  const Gemm first = SomeProblems()[0].gemm;
  std::vector<Trial> of_first;
  for (const Trial& trial : ExampleTrials(1200))
    if (trial.gemm == first) of_first.push_back(trial);
  for (Trial& trial : of_first) trial.gemm.shape = {256, 1024, 4096};
  const std::vector<RecordedProblem> problems = RecordedProblems(of_first, {}, {});
  ASSERT_EQ(problems.size(), 1u);
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  const auto log_prior = [&](const Shape& met, Occasion occasion, uint64_t seed) {
    Gemm gemm = problems[0].gemm;
    gemm.shape = met;
    std::vector<Trial> trials;
    for (const auto& [plan, recorded] : problems[0].plans) {
      trials.push_back(
          {.gemm = gemm, .subject = plan, .outcome = MeasuredOutcome(1000.0 * double(1 + trials.size() % 3))});
      trials.back().setting.device_key = problems[0].device.key;
    }
    Experience experience;
    experience.Add(*Recording::FromTrials(std::move(trials)), {});
    Random random(seed);
    return LogPriorsIn(DrawGroups(problems, 1, {}, experience, *judge, random, occasion)[0]);
  };
  const auto times_known = [&](const Shape& met, Occasion occasion) {
    int known = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      Random random(seed);
      const PlanGroup plain = std::move(DrawGroups(problems, 1, {}, {}, *judge, random, occasion)[0]);
      known += log_prior(met, occasion, seed) != LogPriorsIn(plain);
    }
    return known;
  };
  const Shape shape = problems[0].gemm.shape;
  const Shape other{3 * shape.m, 3 * shape.n, 3 * shape.k}, sharing{shape.m, shape.n, 3 * shape.k};
  const int told = times_known(other, Occasion::kValidation);
  EXPECT_GT(told, 20) << "but for groups in which hardly a plan is left to tell apart";
  EXPECT_EQ(times_known(other, Occasion::kLearning), told);
  EXPECT_EQ(times_known(sharing, Occasion::kValidation), told);
  for (const Occasion occasion : {Occasion::kLearning, Occasion::kValidation})
    EXPECT_EQ(times_known(shape, occasion), 0);
  // A third of the times by expectation; 3 and 20 are each less likely than one in ten thousand.
  EXPECT_GT(times_known(sharing, Occasion::kLearning), 2);
  EXPECT_LT(times_known(sharing, Occasion::kLearning), 20);
}

TEST(GroupsTest, TheSameRandomNumbersGiveTheSameGroupsHoweverManyCoresThereAre) {
  const std::vector<RecordedProblem> problems = SomeProblems();
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  Random one(3), same(3), other(4);
  const auto contexts = [&](Random& random) {
    std::vector<std::vector<Token>> texts;
    for (const PlanGroup& group : DrawGroups(problems, 12, {}, {}, *judge, random)) texts.push_back(group.context);
    return texts;
  };
  const auto first = contexts(one);
  EXPECT_EQ(contexts(same), first);
  EXPECT_NE(contexts(other), first);
}

TEST(GroupsTest, WithoutTheMaskAnyPlanMayComeAndWithoutThePriorAllAreBelievedAlike) {
  const std::vector<RecordedProblem> problems = SomeProblems();
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  const auto log_priors_differ = [&](const Ablations& ablations) {
    Random random(5);
    for (const PlanGroup& group : DrawGroups(problems, 8, ablations, {}, *judge, random))
      for (PlanPrefix prefix; !prefix.IsWhole();) {
        const AllowedWords allowed = group.mask->AllowedAfter(prefix);
        for (const float prior : allowed.log_prior)
          if (prior != 0) return true;
        prefix.Take(allowed.words.front());
      }
    return false;
  };
  EXPECT_TRUE(log_priors_differ({}));
  EXPECT_FALSE(log_priors_differ({.prior = true}));
  EXPECT_FALSE(log_priors_differ({.mask = true}));
}

TEST(GroupsTest, ABatchHasEveryChoiceOfEveryPlanAndWhatWasAllowedThere) {
  const std::vector<RecordedProblem> problems = SomeProblems();
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  Random random(6);
  const std::vector<PlanGroup> groups = DrawGroups(problems, 4, {}, {}, *judge, random);
  std::vector<WeightedPlan> plans;
  size_t choices = 0;
  for (const PlanGroup& group : groups)
    for (const Plan& plan : DrawnFrom(group, 3)) {
      plans.push_back({&group, plan, 2, 0.25});
      choices += ChoicesIn(group, plan);
    }
  const PolicyBatch batch = BatchOf(plans, Weight::kOfEachChoice);
  ASSERT_EQ(batch.rows.size(), choices);
  EXPECT_EQ(batch.texts.rows, int(plans.size()));
  ASSERT_EQ(batch.allowed_from.size(), choices + 1);
  EXPECT_EQ(batch.allowed_from.back(), int64_t(batch.allowed.size()));
  EXPECT_EQ(batch.log_prior.size(), batch.allowed.size());
  for (size_t i = 0; i < choices; ++i) {
    const auto begin = batch.allowed.begin() + batch.allowed_from[i],
               end = batch.allowed.begin() + batch.allowed_from[i + 1];
    EXPECT_GT(end - begin, 1) << "no choice else";
    const int32_t word =
        batch.texts.tokens[size_t(batch.rows[i]) * size_t(batch.texts.length) + size_t(batch.positions[i])];
    EXPECT_NE(std::find(begin, end, word), end);
    EXPECT_EQ(batch.advantages[i], 2);
    EXPECT_EQ(batch.weights[i], 0.25);
  }
  const PolicyBatch shared = BatchOf(plans, Weight::kOfThePlan);
  std::vector<double> of_plans(plans.size());
  for (size_t i = 0; i < choices; ++i) of_plans[size_t(shared.rows[i])] += shared.weights[i];
  for (size_t i = 0; i < plans.size(); ++i)
    EXPECT_NEAR(of_plans[i], ChoicesIn(*plans[i].group, plans[i].plan) > 0 ? 0.25 : 0, 1e-6);
}

}  // namespace
}  // namespace gemmsmith
