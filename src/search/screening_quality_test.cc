#include "search/screening_quality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/pace.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

const std::vector<Plan> kPlans = {*ParsePlan("wgmma schedule=pingpong tile_m=128 tile_n=128"),
                                  *ParsePlan("wgmma schedule=cooperative tile_m=128 tile_n=256"),
                                  *ParsePlan("wgmma schedule=cooperative tile_m=256 tile_n=192")};

class ScreeningQualityTest : public testing::Test {
 protected:
  void Add(const Plan& plan, Protocol protocol, double time_ns, const std::string& campaign = "one") {
    Trial trial{.gemm = {{4096, 4096, 4096}}, .subject = plan, .outcome = MeasuredOutcome(time_ns)};
    trial.outcome.protocol = protocol;
    trial.outcome.conditions.is_settled = settled_ && protocol != Protocol::kScreen;
    trial.setting.device_key = "h200";
    trial.campaign = campaign;
    trial.unix_ms = int64_t(trials_.size());
    trials_.push_back(trial);
  }
  // Each plan loses what large tiles do not, by this slope.
  void AddRace(Protocol protocol, double call_ns, double slope, const std::string& campaign = "one") {
    for (size_t i = 0; i < kPlans.size(); ++i) {
      const double screened_ns = call_ns * (1 + 0.01 * double(i));
      Add(kPlans[i], Protocol::kScreen, screened_ns, campaign);
      Add(kPlans[i], protocol, screened_ns * std::exp(slope * *BroughtIn(kPlans[i])), campaign);
    }
  }
  std::vector<ScreeningQuality> Qualities() const { return QualitiesOfScreening(trials_); }

  std::vector<Trial> trials_;
  bool settled_ = true;
};

TEST_F(ScreeningQualityTest, LongCallsThatSettleInAnotherOrderAreToldByTheirSettledShare) {
  AddRace(Protocol::kHeat, 2e6, 0.08);
  const std::vector<ScreeningQuality> qualities = Qualities();
  ASSERT_EQ(qualities.size(), 1u);
  const ScreeningQuality& quality = qualities.front();
  EXPECT_EQ(quality.told_by, Protocol::kScreen);
  EXPECT_EQ(quality.race, Protocol::kHeat);
  EXPECT_EQ(quality.from_ns, 1200e3);
  EXPECT_EQ(quality.races, 1);
  EXPECT_EQ(quality.plans, 3);
  EXPECT_DOUBLE_EQ(quality.as_timed.order, -1);
  EXPECT_DOUBLE_EQ(quality.settled.order, 1);
  EXPECT_NEAR(quality.as_timed.first_behind, std::exp(0.08 * (2 - 7.0 / 6)) / 1.02, 1e-9);
  EXPECT_DOUBLE_EQ(quality.settled.first_behind, 1);
  EXPECT_NEAR(quality.slope, 0.08, 1e-9);
  EXPECT_NEAR(quality.slope_error, 0, 1e-6);
}

TEST_F(ScreeningQualityTest, ShortCallsKeepTheOrderOfTheirScreening) {
  AddRace(Protocol::kShort, 10e3, 0);
  const std::vector<ScreeningQuality> qualities = Qualities();
  ASSERT_EQ(qualities.size(), 1u);
  EXPECT_EQ(qualities.front().to_ns, 20e3);
  EXPECT_DOUBLE_EQ(qualities.front().as_timed.order, 1);
  EXPECT_DOUBLE_EQ(qualities.front().settled.order, 1);
  EXPECT_DOUBLE_EQ(qualities.front().as_timed.first_behind, 1);
  EXPECT_NEAR(qualities.front().slope, 0, 1e-9);
}

TEST_F(ScreeningQualityTest, OnlyWhatWasScreenedInTheSameCampaignCountsAndThreePlansAreARace) {
  AddRace(Protocol::kHeat, 2e6, 0.08);
  const Plan unscreened = *ParsePlan("wgmma schedule=cooperative tile_m=192 tile_n=192");
  Add(unscreened, Protocol::kHeat, 1e6);
  Add(unscreened, Protocol::kScreen, 1e6, "another");
  for (size_t i = 0; i < 2; ++i) {
    Add(kPlans[i], Protocol::kScreen, 1e5, "two plans");
    Add(kPlans[i], Protocol::kHeat, 1e5, "two plans");
  }
  const std::vector<ScreeningQuality> qualities = Qualities();
  ASSERT_EQ(qualities.size(), 1u);
  EXPECT_EQ(qualities.front().plans, 3);
  EXPECT_TRUE(QualitiesOfScreening({}).empty());
}

TEST_F(ScreeningQualityTest, LongRacesThatDidNotSettleAndTimesThatAreNoneSayNothing) {
  settled_ = false;
  AddRace(Protocol::kHeat, 2e6, 0.08);
  for (const double time_ns : {0.0, -1.0, double(INFINITY), double(NAN)}) {
    const std::string campaign = std::to_string(time_ns);
    for (const Plan& plan : kPlans) Add(plan, Protocol::kScreen, 1e5, campaign);
    for (const Plan& plan : kPlans) Add(plan, Protocol::kHeat, time_ns, campaign);
  }
  EXPECT_TRUE(Qualities().empty());
  AddRace(Protocol::kHeat, 2e5, 0, "short");
  EXPECT_EQ(Qualities().size(), 1u) << "of short calls none settles";
}

// A heat in turns is no race of long calls, but it tells of one.
TEST_F(ScreeningQualityTest, HeatsTellOfFinals) {
  for (size_t i = 0; i < kPlans.size(); ++i) {
    settled_ = false;
    Add(kPlans[i], Protocol::kHeat, 2e6 * (1 - 0.01 * double(i)));
    settled_ = true;
    Add(kPlans[i], Protocol::kShort, 2e6 * (1 + 0.01 * double(i)));
  }
  const std::vector<ScreeningQuality> qualities = Qualities();
  ASSERT_EQ(qualities.size(), 1u);
  EXPECT_EQ(qualities.front().told_by, Protocol::kHeat);
  EXPECT_EQ(qualities.front().race, Protocol::kShort);
  EXPECT_DOUBLE_EQ(qualities.front().as_timed.order, -1);
  EXPECT_NEAR(qualities.front().as_timed.first_behind, 1.02, 1e-9);
}

TEST_F(ScreeningQualityTest, PlansThatShareNoTilesAreLeftOutOfTheSlope) {
  AddRace(Protocol::kHeat, 10e3, 0.08);
  const Plan direct{FamilyId::kDirect};
  Add(direct, Protocol::kScreen, 5e3);
  Add(direct, Protocol::kHeat, 50e3);
  EXPECT_NEAR(Qualities().front().slope, 0.08, 1e-9);
  EXPECT_EQ(Qualities().front().plans, 4);
}

TEST_F(ScreeningQualityTest, APlanThatWasJudgedTwiceSpeaksByItsNewestTime) {
  Add(kPlans[2], Protocol::kScreen, 1);
  AddRace(Protocol::kHeat, 2e6, 0.08);
  EXPECT_NEAR(Qualities().front().slope, 0.08, 1e-9);
}

}  // namespace
}  // namespace gemmsmith
