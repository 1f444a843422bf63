#include "search/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "program/cost.h"
#include "program/legality.h"
#include "search/fresh_plans.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

const Gemm kForecastGemm{{256, 512, 1024}};

class ForecastTest : public testing::Test {
 protected:
  const Device device = *FindDevice("h200");
  const Space space{RankedPlans(kForecastGemm, device, 500)};
  Forecast forecast{{.gemm = kForecastGemm, .device = device, .space = &space, .seed = 1}};

  double Predicted(size_t index) const { return PredictTimeNs(space.plans()[index], kForecastGemm, device); }
  void Learn(size_t index, double factor) {
    forecast.Learn(space.plans()[index], MeasuredOutcome(factor * Predicted(index)));
  }
};

TEST_F(ForecastTest, IsThePredictionBeforeAnythingWasLearned) {
  for (size_t i = 0; i < space.size(); ++i) EXPECT_NEAR(forecast.TimeNs(i), Predicted(i), 1e-6 * Predicted(i));
}

TEST_F(ForecastTest, OrderIsByPrediction) {
  for (size_t i = 1; i < space.size(); ++i)
    EXPECT_LE(Predicted(forecast.order()[i - 1]), Predicted(forecast.order()[i]));
}

TEST_F(ForecastTest, NearlyRepeatsWhatWasMeasuredAndMovesNearPlansMoreThanFarOnes) {
  const size_t here = 100;
  Learn(here, 1.3);
  EXPECT_NEAR(forecast.TimeNs(here) / Predicted(here), 1.3, 0.03);
  for (size_t i = 0; i < space.size(); ++i) {
    const double factor = forecast.TimeNs(i) / Predicted(i);
    EXPECT_LE(factor, forecast.TimeNs(here) / Predicted(here) + 1e-9);
    const bool other_family = space.plans()[i].family != space.plans()[here].family;
    EXPECT_NEAR(factor, 1, other_family ? 1e-9 : 0.31);
  }
}

TEST_F(ForecastTest, OptimismFallsWithCertaintyAndVanishesWhereItWasMeasured) {
  const size_t here = 100;
  EXPECT_LT(forecast.OptimisticTimeNs(here, 1), 0.9 * forecast.TimeNs(here));
  Learn(here, 1);
  EXPECT_GT(forecast.OptimisticTimeNs(here, 1), 0.95 * forecast.TimeNs(here));
}

TEST_F(ForecastTest, OffsetsOfAxisValuesAreFound) {
  const auto truth = [&](size_t i) { return Predicted(i) * (space.plans()[i].Get("split") > 1 ? 1.25 : 0.95); };
  for (size_t i = 0; i < space.size(); i += 5) forecast.Learn(space.plans()[i], MeasuredOutcome(truth(i)));
  double before = 0, after = 0;
  for (size_t i = 0; i < space.size(); ++i) {
    before += std::abs(std::log(Predicted(i) / truth(i)));
    after += std::abs(std::log(forecast.TimeNs(i) / truth(i)));
  }
  EXPECT_LT(after, before / 4);
}

TEST_F(ForecastTest, FailuresRaiseTheForecastAroundThem) {
  const double before = forecast.TimeNs(50);
  forecast.Learn(space.plans()[50], FailedOutcome(OutcomeKind::kResourceOver, "too much"));
  EXPECT_GT(forecast.TimeNs(50), 1.2 * before);
}

TEST_F(ForecastTest, StartsAreNoNeighboursAndBeginWithTheBest) {
  const std::vector<Plan> starts = PromisingStarts(forecast, space, 12);
  ASSERT_EQ(starts.size(), 12u);
  EXPECT_EQ(starts.front(), space.plans()[forecast.order()[0]]);
  for (size_t i = 0; i < starts.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_GT(Distance(GeometryOf(starts[i]), GeometryOf(starts[j])), 1);
}

// Rings of other lengths are predicted nearly equal and would fill the starts.
TEST(PromisingStartsTest, DifferInTheirTilesNotOnlyInTheirRings) {
  const Gemm gemm{{4096, 128, 8192}};
  const Device device = *FindDevice("h200");
  const Space space(RankedPlans(gemm, device, kLiveSpaceSize));
  const std::vector<Plan> starts =
      PromisingStarts(Forecast({.gemm = gemm, .device = device, .space = &space, .seed = 1}), space, 12);
  std::set<std::vector<int>> tilings;
  for (const Plan& plan : starts)
    tilings.insert({plan.Get("tile_m"), plan.Get("tile_n"), plan.Get("cluster_m"), plan.Get("cluster_n"),
                    plan.Get("split"), plan.Get("reduction")});
  EXPECT_GE(tilings.size(), 8u);
}

}  // namespace
}  // namespace gemmsmith
