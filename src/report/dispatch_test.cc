#include "report/dispatch.h"

#include <gtest/gtest.h>

#include "archive/example_trials.h"

namespace gemmsmith {
namespace {

class DispatchTest : public testing::Test {
 protected:
  // In this campaign, AutoTuning of the same layout took `ratio` times as long as the plan.
  void Race(int campaign, int plan, double ratio, const Layout& layout = kTn, double half_width = 0.02) {
    Trial trial{.gemm = {.shape = {256, 256, 256}, .kind = {.layout = layout}}, .subject = ExamplePlan(plan)};
    trial.outcome.kind = OutcomeKind::kMeasured;
    trial.outcome.protocol = Protocol::kShort;
    trial.outcome.timings = {{.contender = "ours", .median_ns = 1000, .mean_ns = 1000, .interval = {1000, 1000}}};
    const RatioEstimate same{ratio, ratio, {ratio - half_width, ratio + half_width}, 20};
    const RatioEstimate other{0.5, 0.5, {0.4, 0.6}, 20};
    trial.outcome.comparisons = {{"lt_auto_nn", Clock::kDevice, layout == kNn ? same : other},
                                 {"lt_auto_tn", Clock::kDevice, layout == kTn ? same : other}};
    trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
    trial.unix_ms = 1'795'219'200'000 + campaign;
    trial.campaign = std::string(1, char('z' - campaign));  // their names say nothing of their order
    trials_.push_back(trial);
  }
  Dispatch Found() const { return DispatchOf(trials_, *SelectRecords(trials_, {})); }

  std::vector<Trial> trials_;
};

TEST_F(DispatchTest, AnEarlierRaceChoosesAndALaterOneMeasures) {
  Race(1, 0, 1.1), Race(1, 1, 1.3);
  Race(2, 0, 1.4), Race(2, 1, 1.2);
  const Dispatch dispatch = Found();
  ASSERT_EQ(dispatch.products.size(), 1u);
  EXPECT_TRUE(dispatch.products[0].is_ours);
  EXPECT_DOUBLE_EQ(dispatch.Min(), 1.2);
  EXPECT_EQ(dispatch.ClearLosses(), 0);
}

TEST_F(DispatchTest, WhereOursWasNotClearlyFasterTheLibraryIsChosen) {
  Race(1, 0, 1.01);
  Race(2, 0, 0.7);
  Race(1, 0, 1.1, kNn);
  Race(2, 0, 0.9, kNn);
  const Dispatch dispatch = Found();
  ASSERT_EQ(dispatch.products.size(), 2u);
  EXPECT_EQ(dispatch.ToOurs(), 1);
  EXPECT_DOUBLE_EQ(dispatch.Min(), 0.9);
  EXPECT_EQ(dispatch.ClearLosses(), 1);
  EXPECT_DOUBLE_EQ(dispatch.Geomean(), std::sqrt(0.9));
}

TEST_F(DispatchTest, OnlyWhoTakesPartInTheLastRaceCanBeChosen) {
  Race(1, 0, 1.5);
  Race(2, 0, 1.4), Race(2, 1, 1.45);
  Race(3, 1, 1.3);
  EXPECT_DOUBLE_EQ(Found().Min(), 1.3);
}

TEST_F(DispatchTest, ATrialOfAnEarlierHourIsNoLaterRace) {
  Race(2, 0, 1.5);
  Race(1, 0, 1.2), Race(3, 1, 1.1);
  trials_[1].campaign = trials_[2].campaign;  // interrupted, and gone on behind campaign 2
  EXPECT_TRUE(Found().products.empty());
}

TEST_F(DispatchTest, AProductWhoseLastRaceHadNobodyOfBeforeIsLeftOutAndCounted) {
  Race(1, 0, 1.5), Race(1, 1, 1.4);
  Race(1, 0, 1.5, kNn);
  Race(2, 1, 1.5, kNn);  // another plan
  const Dispatch dispatch = Found();
  EXPECT_TRUE(dispatch.products.empty());
  EXPECT_EQ(dispatch.without_later_race, 2);
}

}  // namespace
}  // namespace gemmsmith
