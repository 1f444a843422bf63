#include "search/neighbour_winners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "problem/example_device.h"
#include "program/family.h"

namespace gemmsmith {
namespace {

std::vector<Plan> Ranked(const Gemm& gemm, size_t count) { return RankedPlans(gemm, H200(), count); }

TEST(OctavesBetween, AddsUpExtentsAndLayoutsAndKnowsNoOtherTypes) {
  const Gemm gemm{{256, 512, 1024}, {kTn}};
  EXPECT_EQ(OctavesBetween(gemm, gemm), 0);
  EXPECT_EQ(OctavesBetween(gemm, {{512, 512, 1024}, {kTn}}), 1);
  EXPECT_EQ(OctavesBetween(gemm, {{512, 256, 4096}, {kTn}}), 4);
  EXPECT_EQ(OctavesBetween(gemm, {{256, 512, 1024}, {kNn}}), 0.5);
  EXPECT_TRUE(std::isinf(OctavesBetween(gemm, {{256, 512, 1024}, {kTn, ScalarType::kBf16}})));
  EXPECT_TRUE(std::isinf(OctavesBetween(gemm, {{256, 512, 1024}, {kTn, ScalarType::kF16, Accumulation::kF16}})));
}

TEST(NeighbourWinners, OfTheProblemItselfComeFirstThenThoseOfTheNearest) {
  const Gemm gemm{{256, 512, 4096}, {kTn}}, near{{256, 512, 8192}, {kTn}}, far{{512, 2048, 4096}, {kTn}};
  const std::vector<Plan> plans = Ranked(gemm, 3);
  NeighbourWinners winners;
  winners.Add(far, plans[0]);
  winners.Add(near, plans[1]);
  winners.Add(gemm, plans[2]);
  winners.Add(near, plans[2]);
  EXPECT_EQ(winners.For(gemm, H200(), 10), (std::vector<Plan>{plans[2], plans[1], plans[0]}));
  EXPECT_EQ(winners.For(gemm, H200(), 2), (std::vector<Plan>{plans[2], plans[1]}));
}

TEST(NeighbourWinners, OfOtherNumbersAndDevicesComeBehindThoseOfTheOtherLayout) {
  const Shape shape{256, 512, 4096};
  const Gemm gemm{shape, {kTn}}, other_layout{shape, {kNn}},
      f16_sums{shape, {kTn, ScalarType::kF16, Accumulation::kF16}}, bf16{shape, {kTn, ScalarType::kBf16}};
  const std::vector<Plan> plans = Ranked(gemm, 4);
  NeighbourWinners winners;
  winners.Add(gemm, plans[0], true);
  EXPECT_EQ(winners.OfItself(gemm, H200()), plans[0])
      << "a kernel that was fastest on another device, if there is no other";
  winners.Add({{512, 512, 4096}, {kTn}}, plans[3]);
  winners.Add(other_layout, plans[1]);
  winners.Add(gemm, plans[2]);
  EXPECT_EQ(winners.For(gemm, H200(), 10), (std::vector<Plan>{plans[2], plans[1], plans[0], plans[3]}));
  EXPECT_EQ(winners.OfItself(gemm, H200()), plans[2]);
  for (const Gemm& other : {f16_sums, bf16}) {
    EXPECT_EQ(winners.For(other, H200(), 1), std::vector<Plan>{plans[2]}) << Print(other);
    EXPECT_EQ(winners.OfItself(other, H200()), plans[2]) << Print(other);
  }
}

TEST(NeighbourWinners, HaveTheFormOfAScreening) {
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  const Plan plan = Ranked(gemm, 1).front();
  NeighbourWinners winners;
  winners.Add(gemm, WithTrigger(WithFixed(plan, FixedDimensions::kAll), Trigger::kSoon));
  EXPECT_EQ(winners.For(gemm, H200(), 10), std::vector<Plan>{plan});
}

TEST(NeighbourWinners, PlansThatAreNotWorthTryingAreLeftOut) {
  const Gemm deep{{64, 64, 16384}, {kTn}}, shallow{{64, 64, 64}, {kTn}};
  NeighbourWinners winners;
  std::vector<Plan> plans = Ranked(deep, 200);
  for (const Plan& plan : plans) winners.Add(deep, plan);
  const std::vector<Plan> here = winners.For(shallow, H200(), 200);
  EXPECT_LT(here.size(), plans.size());
  for (const Plan& plan : here) EXPECT_TRUE(IsWorthTrying(plan, shallow, H200())) << Print(plan);
}

TEST(NeighbourWinners, OfAProblemItselfIsItsWinnerUnchanged) {
  const Gemm gemm{{4096, 4096, 12288}, {kTn}}, other_layout{gemm.shape, {kNn}}, near{{4096, 4096, 16384}, {kTn}};
  const Plan soon = *ParsePlan("wgmma schedule=pingpong store=tma trigger=soon"),
             plain = *ParsePlan("wgmma schedule=pingpong store=tma"),
             illegal = *ParsePlan("wgmma schedule=pingpong split=2");
  NeighbourWinners winners;
  winners.Add(near, plain);
  EXPECT_EQ(winners.OfItself(gemm, H200()), std::nullopt) << "0.4 octaves are another shape";
  winners.Add(other_layout, plain);
  EXPECT_EQ(winners.OfItself(gemm, H200()), plain);
  winners.Add(gemm, illegal);
  EXPECT_EQ(winners.OfItself(gemm, H200()), plain);
  winners.Add(gemm, soon);
  EXPECT_EQ(winners.OfItself(gemm, H200()), soon);
  EXPECT_EQ(winners.For(gemm, H200(), 1), std::vector<Plan>{ScreeningForm(plain, H200())});
}

// Records hold winners of before their values were retired.
TEST(NeighbourWinners, RetiredPlansAreLeftOut) {
  const Gemm gemm{{4096, 4096, 12288}, {kTn}};
  const Plan plain = *ParsePlan("wgmma schedule=pingpong store=tma"),
             retired = *ParsePlan("wgmma schedule=pingpong store=tma walk=back_and_forth");
  NeighbourWinners winners;
  winners.Add(gemm, retired);
  EXPECT_TRUE(winners.For(gemm, H200(), 10).empty());
  EXPECT_EQ(winners.OfItself(gemm, H200()), std::nullopt);
  winners.Add(gemm, plain);
  EXPECT_EQ(winners.For(gemm, H200(), 10), std::vector<Plan>{ScreeningForm(plain, H200())});
  EXPECT_EQ(winners.OfItself(gemm, H200()), plain);
}

TEST(NeighbourWinners, EqualTextsAreEqualWinners) {
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  NeighbourWinners one, other;
  const std::vector<Plan> plans = Ranked(gemm, 2);
  one.Add(gemm, plans[0]);
  other.Add(gemm, plans[0]);
  EXPECT_EQ(one.Print(), other.Print());
  other.Add(gemm, plans[1]);
  EXPECT_NE(one.Print(), other.Print());
  one.Add(gemm, plans[1], true);
  EXPECT_NE(one.Print(), other.Print());
}

class InterleavedProposerTest : public testing::Test {
 protected:
  std::unique_ptr<Proposer> Searcher() { return *MakeProposer("ranked", context_); }

  Gemm gemm_{{256, 512, 4096}, {kTn}};
  Space space_{Ranked(gemm_, 40)};
  SearchContext context_{.gemm = gemm_, .device = H200(), .space = &space_, .seed = 1};
};

TEST_F(InterleavedProposerTest, EveryOtherPlanIsAWinnerAndNoneComesTwice) {
  const std::vector<Plan> ranked = Searcher()->Propose(40);
  const std::unique_ptr<Proposer> both = MakeInterleaved({ranked[7], ranked[0], ranked[9]}, Searcher());
  EXPECT_EQ(both->Propose(4), (std::vector<Plan>{ranked[7], ranked[0], ranked[9], ranked[1]}));
  std::set<Plan> seen = {ranked[7], ranked[0], ranked[9], ranked[1]};
  for (std::vector<Plan> plans = both->Propose(6); !plans.empty(); plans = both->Propose(6))
    for (const Plan& plan : plans) EXPECT_TRUE(seen.insert(plan).second) << Print(plan);
  EXPECT_EQ(seen.size(), space_.size());
}

TEST_F(InterleavedProposerTest, ObservedPlansAreNotProposedAgain) {
  const std::vector<Plan> ranked = Searcher()->Propose(40);
  const std::unique_ptr<Proposer> both = MakeInterleaved({ranked[7], ranked[8]}, Searcher());
  both->Observe(ranked[7], {});
  both->Observe(ranked[0], {});
  EXPECT_EQ(both->Propose(2), (std::vector<Plan>{ranked[8], ranked[1]}));
}

// Counts how often it is asked, and for how many.
class Counted : public Proposer {
 public:
  Counted(std::unique_ptr<Proposer> searcher, std::vector<int>& asked_for)
      : searcher_(std::move(searcher)), asked_for_(asked_for) {}
  std::string_view name() const override { return searcher_->name(); }
  std::vector<Plan> Propose(int count) override {
    asked_for_.push_back(count);
    return searcher_->Propose(count);
  }
  void Observe(const Plan& plan, const Outcome& outcome) override { searcher_->Observe(plan, outcome); }

 private:
  const std::unique_ptr<Proposer> searcher_;
  std::vector<int>& asked_for_;
};

TEST_F(InterleavedProposerTest, TheSearcherIsAskedOnceForAllItsTurns) {
  const std::vector<Plan> ranked = Searcher()->Propose(40);
  std::vector<int> asked_for;
  const auto both =
      MakeInterleaved({ranked[30], ranked[31], ranked[32]}, std::make_unique<Counted>(Searcher(), asked_for));
  EXPECT_EQ(both->Propose(4).size(), 4u);
  EXPECT_EQ(asked_for, (std::vector{2}));
  EXPECT_EQ(both->Propose(5), (std::vector<Plan>{ranked[32], ranked[2], ranked[3], ranked[4], ranked[5]}));
  EXPECT_EQ(asked_for, (std::vector{2, 4})) << "winners are at their end";
}

TEST_F(InterleavedProposerTest, TheSearcherReplacesItsPlansThatWereWinners) {
  const std::vector<Plan> ranked = Searcher()->Propose(40);
  std::vector<int> asked_for;
  const auto both = MakeInterleaved({ranked[1], ranked[0]}, std::make_unique<Counted>(Searcher(), asked_for));
  EXPECT_EQ(both->Propose(4), (std::vector<Plan>{ranked[1], ranked[0], ranked[2], ranked[3]}));
  EXPECT_EQ(asked_for, (std::vector{2, 2}));
}

}  // namespace
}  // namespace gemmsmith
