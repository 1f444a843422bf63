#include "search/experience.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "program/cost.h"
#include "search/forecast.h"
#include "search/recorded_problem.h"

namespace gemmsmith {
namespace {

const Gemm kHere{{256, 512, 1024}}, kNext{{256, 1024, 1024}}, kFar{{16384, 16384, 64}};

class ExperienceTest : public testing::Test {
 protected:
  // Narrow tiles are slower than predicted by a fifth, on every problem.
  static bool IsLetDown(const Plan& plan) { return plan.Get("tile_n") <= 16; }
  static double FactorOf(const Plan& plan) { return IsLetDown(plan) ? 1.2 : 1; }

  std::shared_ptr<const Recording> RecordingOf(const std::vector<Gemm>& problems) const {
    std::vector<Trial> trials;
    for (const Gemm& gemm : problems) {
      for (const Plan& plan : recorded_)
        trials.push_back(
            RecordedTrial(gemm, plan, MeasuredOutcome(FactorOf(plan) * PredictTimeNs(plan, gemm, device_))));
      trials.back().outcome = FailedOutcome(OutcomeKind::kWrong, "off by one");
    }
    return Recording::FromTrials(std::move(trials));
  }
  Experience ExperienceOf(const std::vector<Gemm>& problems) const {
    return Experience::Of(*RecordingOf(problems), {});
  }
  // Of those, beside the others.
  double ErrorOfTheLetDown(const Experience& experience) const {
    const std::vector<double> errors = experience.ErrorsOn(context_);
    std::vector<double> let_down, others;
    for (size_t i = 0; i < errors.size(); ++i) (IsLetDown(space_.plans()[i]) ? let_down : others).push_back(errors[i]);
    EXPECT_GT(let_down.size(), 10u);
    EXPECT_GT(others.size(), 10u);
    return Mean(let_down) - Mean(others);
  }

  std::vector<Plan> EveryThird() const {
    std::vector<Plan> plans;
    for (size_t i = 0; i < space_.size(); i += 3) plans.push_back(space_.plans()[i]);
    return plans;
  }

  const Device device_ = *FindDevice("h200");
  const Space space_{RankedPlans(kHere, device_, 300)};
  const std::vector<Plan> recorded_ = EveryThird();
  const SearchContext context_{.gemm = kHere, .device = device_, .space = &space_};
};

TEST_F(ExperienceTest, HoldsWhatWasMeasuredBesideTheBestOfItsProblem) {
  const Experience experience = ExperienceOf({kNext});
  ASSERT_EQ(experience.problems(), std::vector<Gemm>{kNext});
  ASSERT_EQ(experience.plans(), recorded_);
  EXPECT_EQ(experience.device_key(), "h200");
  const auto recording = RecordingOf({kNext});
  const double best_ns = recording->Best(kNext)->outcome.TimeNs();
  int unknown = 0;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    const Outcome& outcome = recording->Find(kNext, experience.plans()[i])->outcome;
    unknown += experience.delays()[i] < 0;
    EXPECT_EQ(experience.delays()[i] < 0, outcome.kind != OutcomeKind::kMeasured);
    if (outcome.kind != OutcomeKind::kMeasured) continue;
    EXPECT_NEAR(experience.delays()[i], std::log(outcome.TimeNs() / best_ns), 1e-6);
  }
  EXPECT_EQ(unknown, 1);
}

TEST_F(ExperienceTest, NothingIsKeptOfShapesThatAreHeldOutOrThatOneIsToForget) {
  const auto recording = RecordingOf({kHere, kNext, kFar});
  EXPECT_EQ(Experience::Of(*recording, {.sizes = {512}}).problems(), (std::vector<Gemm>{kNext, kFar}));
  const Experience all = Experience::Of(*recording, {}), rest = all.Without(kNext.shape);
  EXPECT_EQ(rest.problems(), (std::vector<Gemm>{kHere, kFar}));
  EXPECT_EQ(rest.ErrorsOn(context_), ExperienceOf({kHere, kFar}).ErrorsOn(context_));
}

TEST_F(ExperienceTest, WhatIsSlowerThanPredictedElsewhereIsTakenToBeSlowerHereTheLessTheFartherThatIs) {
  const double here = ErrorOfTheLetDown(ExperienceOf({kHere})), next = ErrorOfTheLetDown(ExperienceOf({kNext})),
               far = ErrorOfTheLetDown(ExperienceOf({kFar}));
  EXPECT_NEAR(here, std::log(1.2), 0.04);
  EXPECT_LT(next, here);
  EXPECT_GT(next, 0.8 * here);
  EXPECT_LT(far, 0.3 * here);
}

TEST_F(ExperienceTest, OtherKindsOfProblemsSayNothing) {
  Gemm other = kNext;
  other.kind.type = ScalarType::kBf16;
  EXPECT_EQ(ExperienceOf({other}).ErrorsOn(context_), std::vector<double>(space_.size()));
  EXPECT_EQ(Experience().ErrorsOn(context_), std::vector<double>(space_.size()));
}

TEST_F(ExperienceTest, ForecastsBeginWithIt) {
  const Experience experience = ExperienceOf({kNext});
  SearchContext experienced = context_;
  experienced.experience = &experience;
  const Forecast forecast(experienced), plain(context_);
  const std::vector<double> errors = experience.ErrorsOn(context_);
  for (size_t i = 0; i < space_.size(); ++i)
    EXPECT_NEAR(std::log(forecast.TimeNs(i) / plain.TimeNs(i)), errors[i], 1e-9);
}

TEST_F(ExperienceTest, NumbersThatFitNothingAreRefused) {
  const std::vector<Plan> plans(space_.plans().begin(), space_.plans().begin() + 2);
  EXPECT_TRUE(Experience::From("h200", {kHere}, plans, {0, -1}).ok());
  EXPECT_EQ(Experience::From("h200", {kHere}, plans, {0}).status().message(), "1 delays of 2 plans on 1 problems");
  EXPECT_EQ(Experience::From("h200", {kHere}, plans, {0, std::numeric_limits<float>::infinity()}).status().message(),
            "a delay is not finite");
  EXPECT_FALSE(Experience::From("abacus", {kHere}, plans, {0, 0}).ok());
}

}  // namespace
}  // namespace gemmsmith
