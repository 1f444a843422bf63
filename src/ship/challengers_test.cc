#include "ship/challengers.h"

#include <gtest/gtest.h>

#include <map>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

class ChallengersTest : public testing::Test {
 protected:
  // Later calls are of later trials.
  void Add(const std::string& campaign, const Plan& plan, double time_ns, Protocol protocol = Protocol::kShort) {
    challengers_.Add({.gemm = SomeGemm(),
                      .subject = plan,
                      .outcome = MeasuredIn(time_ns, protocol),
                      .unix_ms = ++now_,
                      .campaign = campaign});
  }
  void Refuse(const std::string& campaign, const Plan& plan, const Layout& layout = SomeGemm().kind.layout,
              Protocol protocol = Protocol::kShort) {
    Outcome outcome = MeasuredIn(1, protocol);
    outcome.kind = OutcomeKind::kWrong;
    outcome.timings.clear();
    Gemm gemm = SomeGemm();
    gemm.kind.layout = layout;
    challengers_.Add({.gemm = gemm, .subject = plan, .outcome = outcome, .unix_ms = ++now_, .campaign = campaign});
  }
  std::vector<Plan> Plans() const {
    const std::vector<Challenge> all = challengers_.All();
    return all.size() == 1 ? all[0].plans : std::vector<Plan>();
  }

  const std::vector<Plan> plans_ = SomePlans(4);
  const Plan a_ = plans_[0], b_ = plans_[1], c_ = plans_[2], d_ = plans_[3];
  int64_t now_ = 0;
  Challengers challengers_;
};

TEST_F(ChallengersTest, EveryCampaignSendsItsBestAndTheLatestComesFirst) {
  Add("winter", a_, 1000);
  Add("winter", b_, 1100);
  Add("spring", c_, 1300);
  Add("spring", d_, 1200);
  EXPECT_EQ(Plans(), (std::vector<Plan>{d_, a_})) << "the slower time of the later campaign first";
  Add("winter", b_, 1100);
  EXPECT_EQ(Plans(), (std::vector<Plan>{a_, d_})) << "winter went on";
}

TEST_F(ChallengersTest, FinalsSayMoreThanScreens) {
  Add("winter", a_, 1000);
  Add("winter", b_, 500, Protocol::kScreen);
  EXPECT_EQ(Plans(), (std::vector<Plan>{a_}));
}

TEST_F(ChallengersTest, OneThatWonTwiceComesOnce) {
  Add("winter", a_, 1000);
  Add("spring", b_, 1000, Protocol::kScreen);
  Add("summer", a_, 1100, Protocol::kScreen);
  EXPECT_EQ(Plans(), (std::vector<Plan>{a_, b_}));
}

TEST_F(ChallengersTest, OneThatLostTheFinalsOfALaterCampaignIsNoChallengerAgain) {
  Add("winter", a_, 1000);
  Add("spring", b_, 1050);
  Add("spring", a_, 1100);
  EXPECT_EQ(Plans(), (std::vector<Plan>{b_}));
}

TEST_F(ChallengersTest, OneThatTheFinalsOfALaterCampaignRefusedIsNoChallengerAgain) {
  Add("winter", a_, 1000);
  Refuse("spring", a_);
  Add("spring", b_, 1050);
  EXPECT_EQ(Plans(), (std::vector<Plan>{b_}));
}

TEST_F(ChallengersTest, WhatAScreenRefusedMakesNoCampaignTheLatest) {
  Add("winter", a_, 1000);
  Add("spring", b_, 1050);
  Refuse("winter", c_, SomeGemm().kind.layout, Protocol::kScreen);
  EXPECT_EQ(Plans(), (std::vector<Plan>{b_, a_}));
}

TEST_F(ChallengersTest, WhereAllWereRefusedNobodyChallenges) {
  Add("winter", a_, 1000);
  Refuse("spring", a_);
  EXPECT_TRUE(challengers_.All().empty());
}

TEST_F(ChallengersTest, OneThatWasRefusedInTheOtherLayoutMakesRoomThere) {
  Add("winter", a_, 1000);
  Add("spring", b_, 1100);
  const Layout other = SomeGemm().kind.layout == kNn ? kTn : kNn;
  Refuse("promotion", a_, other);
  const std::vector<Challenge> all = challengers_.InBothLayouts();
  ASSERT_EQ(all.size(), 2u);
  for (const Challenge& challenge : all)
    EXPECT_EQ(challenge.plans, challenge.gemm == SomeGemm() ? (std::vector<Plan>{b_, a_}) : (std::vector<Plan>{b_}));
}

TEST_F(ChallengersTest, LosingAScreenOrAnEarlierCampaignIsNoReasonToStayAway) {
  Add("winter", a_, 1100);
  Add("winter", b_, 1050);
  Add("spring", a_, 1000);
  Add("spring", b_, 1400, Protocol::kScreen);
  EXPECT_EQ(Plans(), (std::vector<Plan>{a_, b_}));
}

TEST_F(ChallengersTest, ProblemsAreApartAndWhatWasNotTimedDoesNotCount) {
  Trial failed{.gemm = SomeGemm(), .subject = a_, .campaign = "winter"};
  failed.outcome.kind = OutcomeKind::kWrong;
  challengers_.Add(failed);
  EXPECT_TRUE(challengers_.All().empty());
  Add("winter", a_, 1000);
  challengers_.Add({.gemm = SomeGemm(1024),
                    .subject = b_,
                    .outcome = MeasuredIn(2000, Protocol::kShort),
                    .unix_ms = 1,
                    .campaign = "winter"});
  const std::vector<Challenge> all = challengers_.All();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].plans, (std::vector<Plan>{a_}));
  EXPECT_EQ(all[1].gemm, SomeGemm(1024));
  EXPECT_EQ(all[1].plans, (std::vector<Plan>{b_}));
}

TEST_F(ChallengersTest, InBothLayoutsTheOtherOnesWinnersComeBehindThoseThatHaveNotRacedThere) {
  Gemm nn = SomeGemm(), tn = SomeGemm(), alone = SomeGemm(1024), padded = SomeGemm(2048);
  nn.kind.layout = kNn, tn.kind.layout = alone.kind.layout = padded.kind.layout = kTn;
  padded.lda = padded.shape.k + 8;
  const auto take = [&](const Gemm& gemm, const Plan& plan, double time_ns) {
    challengers_.Add({.gemm = gemm,
                      .subject = plan,
                      .outcome = MeasuredIn(time_ns, Protocol::kShort),
                      .unix_ms = ++now_,
                      .campaign = "winter"});
  };
  take(nn, a_, 1000), take(nn, b_, 1100);
  take(tn, b_, 1000);
  take(alone, c_, 1000);
  take(padded, d_, 1000);
  std::map<Gemm, std::vector<Plan>> plans;
  for (const Challenge& challenge : challengers_.InBothLayouts()) plans[challenge.gemm] = challenge.plans;
  EXPECT_EQ(plans[nn], (std::vector<Plan>{a_})) << "b raced there and lost";
  EXPECT_EQ(plans[tn], (std::vector<Plan>{b_, a_}));
  EXPECT_EQ(plans[alone], (std::vector<Plan>{c_}));
  alone.kind.layout = kNn;
  EXPECT_EQ(plans[alone], (std::vector<Plan>{c_}));
  EXPECT_EQ(plans[padded], (std::vector<Plan>{d_}));
  EXPECT_EQ(plans.size(), 5u);
}

}  // namespace
}  // namespace gemmsmith
