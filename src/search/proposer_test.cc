#include "search/proposer.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <set>

#include "base/statistics.h"
#include "problem/example_device.h"
#include "program/cost.h"
#include "search/forecast.h"
#include "search/fresh_plans.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

std::unique_ptr<Proposer> Make(std::string_view name, const Space& space, uint64_t seed) {
  Result<std::unique_ptr<Proposer>> proposer = MakeProposer(name, {.space = &space, .seed = seed});
  EXPECT_TRUE(proposer.ok());
  return *std::move(proposer);
}

using Landscape = std::function<Outcome(const Plan&)>;

// Asks for `window` plans ahead of the answers, as a campaign does. The plans in the order they were proposed.
std::vector<Plan> SearchWith(Proposer& proposer, const Landscape& landscape, size_t budget, int window) {
  std::vector<Plan> proposed;
  std::deque<Plan> under_way;
  while (proposed.size() < budget || !under_way.empty()) {
    const int wanted = int(std::min(budget - proposed.size(), window - under_way.size()));
    for (const Plan& plan : proposer.Propose(wanted)) {
      proposed.push_back(plan);
      under_way.push_back(plan);
    }
    if (under_way.empty()) break;
    proposer.Observe(under_way.front(), landscape(under_way.front()));
    under_way.pop_front();
  }
  return proposed;
}

Landscape Bowl(const Space& space) {
  return [&space](const Plan& plan) { return MeasuredOutcome(BowlNs(space, plan)); };
}

double BestNs(const std::vector<Plan>& plans, const Landscape& landscape) {
  double best = INFINITY;
  for (const Plan& plan : plans) best = std::min(best, landscape(plan).TimeNs());
  return best;
}

class EveryProposer : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryProposer, ExhaustsAFiniteSpaceWithEveryPlanOnce) {
  const Space space = SyntheticSpace(4);
  for (const int window : {1, 7}) {
    const std::unique_ptr<Proposer> proposer = Make(GetParam(), space, 5);
    const std::vector<Plan> plans = SearchWith(*proposer, Bowl(space), 10 * space.size(), window);
    EXPECT_EQ(plans.size(), space.size());
    EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), space.size());
    EXPECT_TRUE(proposer->Propose(1).empty());
  }
}

TEST_P(EveryProposer, ExhaustsASpaceOfIsolatedPlans) {
  std::vector<Plan> scattered;
  const Space whole = SyntheticSpace(5);
  for (size_t i = 0; i < whole.size(); i += 37) scattered.push_back(whole.plans()[i]);
  const Space space(scattered);
  const std::unique_ptr<Proposer> proposer = Make(GetParam(), space, 5);
  EXPECT_EQ(SearchWith(*proposer, Bowl(space), 10 * space.size(), 3).size(), space.size());
}

TEST_P(EveryProposer, SameSeedProposesTheSamePlans) {
  const Space space = SyntheticSpace(5);
  for (const int window : {1, 8}) {
    const auto run = [&](uint64_t seed) { return SearchWith(*Make(GetParam(), space, seed), Bowl(space), 60, window); };
    EXPECT_EQ(run(3), run(3));
    EXPECT_NE(run(3), run(4));
  }
}

TEST_P(EveryProposer, NeverRepeatsWithAllAnswersOutstanding) {
  const Space space = SyntheticSpace(4);
  const std::unique_ptr<Proposer> proposer = Make(GetParam(), space, 1);
  std::set<Plan> seen;
  for (size_t i = 0; i < space.size(); ++i) {
    const std::vector<Plan> plans = proposer->Propose(1);
    ASSERT_EQ(plans.size(), 1u);
    EXPECT_TRUE(seen.insert(plans[0]).second);
  }
}

TEST_P(EveryProposer, NeverProposesWhatItObservedUnasked) {
  const Space space = SyntheticSpace(4);
  const std::unique_ptr<Proposer> proposer = Make(GetParam(), space, 1);
  std::set<Plan> known;
  for (size_t i = 0; i < space.size(); i += 2) {
    known.insert(space.plans()[i]);
    proposer->Observe(space.plans()[i], MeasuredOutcome(BowlNs(space, space.plans()[i])));
  }
  const std::vector<Plan> plans = SearchWith(*proposer, Bowl(space), space.size(), 4);
  EXPECT_EQ(plans.size(), space.size() - known.size());
  for (const Plan& plan : plans) EXPECT_FALSE(known.contains(plan)) << Print(plan);
}

TEST_P(EveryProposer, GoesOnWhereEveryCandidateFails) {
  const Space space = SyntheticSpace(3);
  const std::unique_ptr<Proposer> proposer = Make(GetParam(), space, 2);
  const Landscape failing = [](const Plan&) { return FailedOutcome(OutcomeKind::kWrong, "NaN at 0,0"); };
  EXPECT_EQ(SearchWith(*proposer, failing, 10 * space.size(), 4).size(), space.size());
}

TEST_P(EveryProposer, ProposesNothingFromAnEmptySpace) {
  const Space space({});
  EXPECT_TRUE(Make(GetParam(), space, 2)->Propose(3).empty());
}

TEST_P(EveryProposer, IgnoresObservationsFromOutsideItsSpace) {
  const Space whole = SyntheticSpace(3);
  const Space half(std::vector<Plan>(whole.plans().begin(), whole.plans().begin() + long(whole.size() / 2)));
  const std::unique_ptr<Proposer> proposer = Make(GetParam(), half, 2);
  proposer->Observe(whole.plans().back(), MeasuredOutcome(1));
  for (const Plan& plan : SearchWith(*proposer, Bowl(whole), whole.size(), 2)) EXPECT_TRUE(half.Contains(plan));
}

INSTANTIATE_TEST_SUITE_P(Proposers, EveryProposer, testing::Values("random", "ranked", "local", "evolution", "bayes"),
                         [](const auto& name) { return std::string(name.param); });

class GuidedProposer : public testing::TestWithParam<std::string_view> {};

TEST_P(GuidedProposer, BeatsRandomOnASmoothLandscape) {
  const Space space = SyntheticSpace(6);
  const Landscape bowl = Bowl(space);
  const size_t budget = std::max<size_t>(40, space.size() / 50);
  std::vector<double> random_best, guided_best;
  int wins = 0;
  constexpr int kSeeds = 20;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    random_best.push_back(BestNs(SearchWith(*Make("random", space, seed), bowl, budget, 4), bowl));
    guided_best.push_back(BestNs(SearchWith(*Make(GetParam(), space, seed), bowl, budget, 4), bowl));
    wins += guided_best.back() <= random_best.back();
  }
  EXPECT_LT(Mean(guided_best), Mean(random_best));
  EXPECT_GE(wins, kSeeds * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Proposers, GuidedProposer, testing::Values("local", "evolution", "bayes"),
                         [](const auto& name) { return std::string(name.param); });

const Gemm kGemm{{256, 512, 1024}};
std::unique_ptr<Proposer> MakeInformed(std::string_view name, const Space& space) {
  return *MakeProposer(name, {.gemm = kGemm, .device = H200(), .space = &space, .seed = 1});
}

TEST(RankedProposerTest, ProposesTheSpaceByPredictedTime) {
  const Space space(RankedPlans(kGemm, H200(), 300));
  const std::unique_ptr<Proposer> proposer = MakeInformed("ranked", space);
  double last_ns = 0;
  for (const Plan& plan : proposer->Propose(300)) {
    const double time_ns = PredictTimeNs(plan, kGemm, H200());
    EXPECT_GE(time_ns, last_ns);
    last_ns = time_ns;
  }
}

TEST(RankedProposerTest, LeavesIllegalPlansForTheEnd) {
  Plan illegal = DefaultPlan(FamilyId::kDirect);
  illegal.Set("reduction", 1);
  Plan legal = DefaultPlan(FamilyId::kDirect);
  const Space space({illegal, legal});
  EXPECT_EQ(MakeInformed("ranked", space)->Propose(2), (std::vector<Plan>{legal, illegal}));
}

std::vector<Plan> StartsIn(const Space& space) {
  return PromisingStarts(Forecast({.gemm = kGemm, .device = H200(), .space = &space, .seed = 1}), space, 12);
}

TEST(LocalProposerTest, StartsWithTheLowestPredictionAndKeepsToOtherGeometriesByTurns) {
  const Space space(RankedPlans(kGemm, H200(), kLiveSpaceSize));
  const std::vector<Plan> plans = MakeInformed("local", space)->Propose(12);
  for (const Plan& plan : space.plans())
    EXPECT_GE(PredictTimeNs(plan, kGemm, H200()), PredictTimeNs(plans[0], kGemm, H200()));
  const std::vector<Plan> starts = StartsIn(space);
  size_t next = 0;
  for (const size_t turn : {0, 1, 3, 5, 7, 9}) {
    while (std::find(plans.begin(), plans.begin() + turn, starts[next]) != plans.begin() + turn) ++next;
    EXPECT_EQ(Print(plans[turn]), Print(starts[next++])) << turn;
  }
}

TEST(LocalProposerTest, AStartThatIsKnownIsNoTurn) {
  const Space space(RankedPlans(kGemm, H200(), kLiveSpaceSize));
  const std::vector<Plan> starts = StartsIn(space);
  const std::unique_ptr<Proposer> proposer = MakeInformed("local", space);
  proposer->Observe(starts[0], MeasuredOutcome(5000));
  EXPECT_EQ(proposer->Propose(2), (std::vector<Plan>{starts[1], starts[2]}));
}

TEST(LocalProposerTest, TheThirdPlanGoesByWhatTheFirstTwoTaught) {
  const Space space(RankedPlans(kGemm, H200(), kLiveSpaceSize));
  for (const int faster : {0, 1}) {
    const std::unique_ptr<Proposer> proposer = MakeInformed("local", space);
    const std::vector<Plan> starts = proposer->Propose(2);
    for (const int i : {0, 1}) proposer->Observe(starts[i], MeasuredOutcome(i == faster ? 5000 : 1e6));
    const Plan third = proposer->Propose(1).at(0);
    EXPECT_LT(Distance(third, starts[faster]), Distance(third, starts[1 - faster])) << Print(third);
  }
}

TEST(LocalProposerTest, ClimbsFromTheBestMeasuredPlan) {
  const Space space(RankedPlans(kGemm, H200(), kLiveSpaceSize));
  const std::unique_ptr<Proposer> proposer = MakeInformed("local", space);
  const std::vector<Plan> starts = proposer->Propose(12);
  for (const Plan& plan : starts) proposer->Observe(plan, MeasuredOutcome(plan == starts[7] ? 500 : 1e6));
  const Plan next = proposer->Propose(1).at(0);
  EXPECT_EQ(Distance(starts[7], next), 1) << Print(next);
}

// The best of b draws without replacement from 1..n is (n + 1) / (b + 1) on average.
TEST(RandomProposerTest, MatchesTheExpectedBestOfDrawsWithoutReplacement) {
  const Space space = SyntheticSpace(4);
  const double n = double(space.size());
  std::vector<double> position(space.size());
  for (const size_t budget : {3, 10, 30}) {
    std::vector<double> best;
    for (uint64_t seed = 0; seed < 600; ++seed) {
      double lowest = n;
      for (const Plan& plan : Make("random", space, seed)->Propose(int(budget))) {
        const auto at = std::lower_bound(space.plans().begin(), space.plans().end(), plan);
        lowest = std::min(lowest, double(at - space.plans().begin()) + 1);
      }
      best.push_back(lowest);
    }
    const double expected = (n + 1) / (double(budget) + 1);
    EXPECT_NEAR(Mean(best), expected, 4 * StandardDeviation(best) / std::sqrt(600.0)) << "budget " << budget;
  }
}

TEST(MakeProposerTest, NamesTheNearestForAWrongWord) {
  const Space space({});
  const Result<std::unique_ptr<Proposer>> proposer = MakeProposer("evolutoin", {.space = &space});
  ASSERT_FALSE(proposer.ok());
  EXPECT_EQ(proposer.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(proposer.status().message().find("\"evolution\""), std::string::npos) << proposer.status().message();
  EXPECT_FALSE(MakeProposer("", {.space = &space}).ok());
}

TEST(DistanceTest, NeighboursAreOneApartAndDistanceIsSymmetric) {
  const Space space = SyntheticSpace(5);
  const Plan plan = space.plans()[space.size() / 2];
  ASSERT_FALSE(space.NeighboursOf(plan).empty());
  for (const Plan& neighbour : space.NeighboursOf(plan)) {
    EXPECT_EQ(Distance(plan, neighbour), 1) << Print(neighbour);
    EXPECT_EQ(Distance(neighbour, plan), 1) << Print(neighbour);
  }
  EXPECT_EQ(Distance(plan, plan), 0);
}

}  // namespace
}  // namespace gemmsmith
