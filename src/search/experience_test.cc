#include "search/experience.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics.h"
#include "program/cost.h"
#include "program/family.h"
#include "search/forecast.h"
#include "search/recorded_problem.h"

namespace gemmsmith {
namespace {

const Gemm kHere{{256, 512, 1024}}, kNext{{256, 1024, 1024}}, kFar{{16384, 16384, 64}};

class ExperienceTest : public testing::Test {
 protected:
  // Narrow tiles are slower than predicted by a fifth, on every problem.
  static bool IsLetDown(const Plan& plan) { return plan.Get("tile_n") <= 40; }
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
    Experience experience;
    experience.Add(*RecordingOf(problems), {});
    return experience;
  }
  // Their mean error over that of the others.
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

TEST_F(ExperienceTest, KeepsNoHeldOutShapeAndUsesNoForgottenOne) {
  const auto recording = RecordingOf({kHere, kNext});
  Experience all, rest, none;
  all.Add(*recording, {});
  rest.Add(*recording, {.sizes = {512}});
  none.Add(*recording, {.sizes = {256}});
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.Fingerprint(), "");
  EXPECT_EQ(rest.Fingerprint(), ExperienceOf({kNext}).Fingerprint());
  EXPECT_NE(rest.Fingerprint(), all.Fingerprint());
  SearchContext forgetful = context_;
  forgetful.forgets = [this](const Shape& shape) { return shape == context_.gemm.shape; };
  EXPECT_EQ(all.ErrorsOn(forgetful), rest.ErrorsOn(context_));
  EXPECT_NE(all.ErrorsOn(context_), rest.ErrorsOn(context_));
}

// One source has nearer problems only.
TEST_F(ExperienceTest, EverySourceIsListenedTo) {
  const Gemm nearest{{256, 512, 2048}};
  Experience near = ExperienceOf({kHere, nearest, {{512, 512, 1024}}}), both = near;
  std::vector<Trial> trials;
  for (const Plan& plan : recorded_)
    trials.push_back(RecordedTrial(kNext, plan, MeasuredOutcome(2000 * double(1 + trials.size() % 5))));
  both.Add(*Recording::FromTrials(std::move(trials)), {});
  EXPECT_NE(near.ErrorsOn(context_), both.ErrorsOn(context_));
}

TEST_F(ExperienceTest, SlowerPlansElsewhereAreExpectedToBeSlowerHereTheLessTheFartherThatIs) {
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

TEST_F(ExperienceTest, OtherDevicesSayNothing) {
  SearchContext elsewhere = context_;
  elsewhere.device.key = "h100";
  EXPECT_EQ(ExperienceOf({kNext}).ErrorsOn(elsewhere), std::vector<double>(space_.size()));
}

// Steps along tile_m are no distances: the covariance of these plans is indefinite.
TEST_F(ExperienceTest, PlansThatStepsTellApartBadlyDoNoHarm) {
  std::vector<Plan> plans;
  for (int tile_m = 8; tile_m <= 256; tile_m += 8) {
    Plan plan = recorded_.front();
    const int axis = GetFamily(plan.family).IndexOf("tile_m");
    plan.values[size_t(axis)] = tile_m;
    plans.push_back(plan);
  }
  std::vector<Trial> trials;
  for (const int k : {512, 1024, 2048})
    for (const Plan& plan : plans)
      trials.push_back(RecordedTrial({{256, 512, k}}, plan, MeasuredOutcome(1000 + 10 * double(trials.size() % 7))));
  Experience experience;
  experience.Add(*Recording::FromTrials(std::move(trials)), {});
  for (const double error : experience.ErrorsOn(context_)) EXPECT_LT(std::abs(error), 1);
}

}  // namespace
}  // namespace gemmsmith
