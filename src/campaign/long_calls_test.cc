#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, TheHeatOfLongCallsHasManyTilesAndNoTwinsAndTheirFinalsHaveThree) {
  options.finalists = 4;
  options.heat_candidates = 20;
  options.chained_twins = 2;
  options.fixed_twins = 4;
  const auto tile = [](const Plan& plan) { return std::pair(plan.Get("tile_m"), plan.Get("tile_n")); };
  std::vector<Plan> plans = RankedPlans(SomeGemm(), SomeDevice(), kLiveSpaceSize);
  std::erase_if(plans, [](const Plan& plan) { return plan.family != FamilyId::kDirect; });
  std::stable_sort(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) { return tile(a) < tile(b); });
  std::map<std::pair<int, int>, int> tiles;
  std::erase_if(plans, [&](const Plan& plan) { return ++tiles[tile(plan)] > 10; });
  ASSERT_GE(tiles.size(), 6u);
  space = Space(plans);
  std::map<Plan, double> times;  // those of one tile are next to each other
  for (const Plan& plan : plans) times[plan] = 400e3 + 100 * double(times.size());
  std::map<std::pair<int, int>, int> of_tile;
  size_t in_heat = 0, in_finals = 0;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) ++in_heat, ++of_tile[tile(request.plan())];
    if (request.protocol == Protocol::kShort) ++in_finals;
    EXPECT_TRUE(times.contains(request.plan())) << "a twin";
    EXPECT_EQ(request.baselines == *BaselineSet::Parse("lt_auto"), request.protocol == Protocol::kShort);
    return MeasuredIn(times[request.plan()], request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, 12u);
  EXPECT_EQ(in_finals, 3u);
  for (const auto& [one, count] : of_tile) EXPECT_LE(count, 2);
}

// What takes longest is left out: the heat, whose twins are compiled for it, and all but one of a layout in the finals.
TEST_F(CampaignTest, ABriefRunHasNoHeatOfLongCallsAndAsksForBriefRacesOnly) {
  options.brief = true;
  options.finalists = 2;
  options.heat_candidates = 4;
  for (const double call_ns : {400e3, 200e3}) {
    std::map<Protocol, int> judged;
    evaluator.judge = [&](const EvaluationRequest& request) {
      ++judged[request.protocol];
      EXPECT_TRUE(request.brief);
      EXPECT_EQ(request.baselines == *BaselineSet::Parse("lt_auto"), request.protocol == Protocol::kShort);
      return MeasuredIn(call_ns, request.protocol);
    };
    options.name = std::to_string(call_ns);
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(judged[Protocol::kHeat], call_ns > 300e3 ? 0 : 4);
    EXPECT_EQ(judged[Protocol::kShort], call_ns > 300e3 ? 1 : 2);
  }
}

// In alternation with others a small tile looks faster than it will be.
TEST_F(CampaignTest, FinalistsOfLongCallsAreTheFastestInSteadyState) {
  const Plan small = *ParsePlan("wgmma schedule=pingpong warpgroups=2 tile_m=128 tile_n=128 store=tma"),
             large = *ParsePlan(
                 "wgmma schedule=cooperative warpgroups=2 tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn");
  options.problems = {{{4096, 4096, 4096}, {kTn}}};
  options.brief = true;
  options.finalists = 1;
  options.heat_candidates = 0;
  space = Space({small, large});
  for (const auto& [length_ns, steady_state] : {std::pair(2000e3, true), {200e3, true}, {2000e3, false}}) {
    const double call_ns = length_ns;
    std::vector<Plan> in_finals;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kShort) in_finals.push_back(request.plan());
      return MeasuredIn(request.plan() == large ? 1.04 * call_ns : call_ns, request.protocol);
    };
    options.steady_state = steady_state;
    options.name = std::to_string(call_ns) + (steady_state ? "" : ", a replay");
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(in_finals, std::vector{steady_state && call_ns > 1e6 ? large : small}) << options.name;
  }
}

// Of windows it is read as it is; in alternation, as heats were once, as the screening is: small tiles look faster than
// they will be.
TEST_F(CampaignTest, AHeatOfLongCallsIsReadByWhetherItsTimesAreOfWindows) {
  const Plan small = *ParsePlan("wgmma schedule=pingpong warpgroups=2 tile_m=128 tile_n=128 store=tma"),
             large = *ParsePlan(
                 "wgmma schedule=cooperative warpgroups=2 tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn");
  options.problems = {{{4096, 4096, 4096}, {kTn}}};
  options.finalists = 1;
  options.heat_candidates = 4;
  space = Space({small, large});
  options.steady_state = true;
  for (const bool of_windows : {true, false}) {
    std::vector<Plan> in_finals;
    // The heat turns the order of the screening round.
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kShort) in_finals.push_back(request.plan());
      const double ratio = request.protocol == Protocol::kHeat ? 1.02 : of_windows ? 0.9 : 1.2;
      Outcome outcome = MeasuredIn(request.plan() == large ? 2e6 * ratio : 2e6, request.protocol);
      outcome.conditions.in_steady_state = request.protocol == Protocol::kHeat && of_windows;
      return outcome;
    };
    options.name = of_windows ? "windows" : "turns";
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(in_finals, std::vector{of_windows ? small : large}) << options.name;
  }
}

}  // namespace
}  // namespace gemmsmith
