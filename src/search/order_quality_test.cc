#include "search/order_quality.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{.shape = {4096, 4096, 4096}, .kind = {.layout = kTn}};

Trial TrialOf(const Plan& plan, double time_ns) {
  Trial trial;
  trial.gemm = kGemm;
  trial.subject = plan;
  trial.setting.device_key = "h200";
  trial.outcome = MeasuredOutcome(time_ns);
  return trial;
}

// Eight tiles of the default plan, the widest fastest.
std::vector<Trial> EightTiles() {
  std::vector<Trial> trials;
  for (int eighth = 1; eighth <= 8; ++eighth) {
    Plan plan = DefaultPlan(FamilyId::kWgmma);
    plan.Set("tile_n", 32 * eighth);
    trials.push_back(TrialOf(plan, 1000.0 * (10 - eighth)));
  }
  return trials;
}

NvmmhConfig ConfigOf(int tile_n) {
  return {.tile_m = 128, .tile_n = tile_n, .tile_k = 64, .warp_m = 64, .warp_n = tile_n, .warp_k = 16, .stages = 4};
}

const OrderQuality& Of(const std::vector<OrderQuality>& qualities, PlanOrder order) {
  return *std::find_if(qualities.begin(), qualities.end(),
                       [&](const OrderQuality& quality) { return quality.order == order && !quality.shape_class; });
}

TEST(OrderQuality, CountsTheBestOfTheLibrarysPlansOverTheBestMeasured) {
  const auto ask = [](const Gemm&, const Device&) -> Result<std::vector<NvmmhConfig>> {
    return std::vector<NvmmhConfig>{ConfigOf(128), ConfigOf(224), ConfigOf(128)};
  };
  const auto qualities = QualitiesOf(*Recording::FromTrials(EightTiles()), ask);
  ASSERT_TRUE(qualities.ok()) << qualities.status().message();
  const OrderQuality& nvmmh = Of(*qualities, PlanOrder::kNvmmh);
  EXPECT_EQ(nvmmh.problems, 1);
  EXPECT_DOUBLE_EQ(nvmmh.plans, 2);
  EXPECT_DOUBLE_EQ(nvmmh.exact, 1);
  EXPECT_DOUBLE_EQ(nvmmh.at_8.median, 1.5);  // 224 columns: 3 us, 256: 2 us
  EXPECT_DOUBLE_EQ(Of(*qualities, PlanOrder::kModel).at_16.median, 1);
  EXPECT_DOUBLE_EQ(Of(*qualities, PlanOrder::kModelAsMany).plans, 2);
  EXPECT_DOUBLE_EQ(Of(*qualities, PlanOrder::kWgmmaBest).at_8.median, 1);
}

TEST(OrderQuality, AConfigurationThatNoRecordHasStandsForItsNearestButNotUnderSameTile) {
  const auto ask = [](const Gemm&, const Device&) -> Result<std::vector<NvmmhConfig>> {
    return std::vector<NvmmhConfig>{ConfigOf(248)};
  };
  const auto qualities = QualitiesOf(*Recording::FromTrials(EightTiles()), ask);
  ASSERT_TRUE(qualities.ok());
  EXPECT_DOUBLE_EQ(Of(*qualities, PlanOrder::kNvmmh).at_8.median, 1);
  EXPECT_EQ(Of(*qualities, PlanOrder::kNvmmhSame).problems, 0);
}

TEST(OrderQuality, WithoutTheLibraryThereIsNoComparison) {
  const auto ask = [](const Gemm&, const Device&) -> Result<std::vector<NvmmhConfig>> { return Unavailable("none"); };
  EXPECT_EQ(QualitiesOf(*Recording::FromTrials(EightTiles()), ask).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gemmsmith
