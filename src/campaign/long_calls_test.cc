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

TEST_F(CampaignTest, TheHeatOfLongCallsHasManyTilesAndNoTwins) {
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
    return MeasuredIn(times[request.plan()], request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, 12u);
  EXPECT_EQ(in_finals, 4u);
  for (const auto& [one, count] : of_tile) EXPECT_LE(count, 2);
}

TEST_F(CampaignTest, ABriefRunAsksForBriefRacesOnlyAndItsFinalsForCublasLtAlone) {
  options.brief = true;
  options.finalists = 2;
  options.heat_candidates = 4;
  for (const double call_ns : {400e3, 200e3}) {
    std::map<Protocol, int> judged;
    evaluator.judge = [&](const EvaluationRequest& request) {
      ++judged[request.protocol];
      EXPECT_TRUE(request.brief);
      EXPECT_EQ(request.baselines == *BaselineSet::Parse("lt_auto,lt_heuristic"), request.protocol == Protocol::kShort);
      return MeasuredIn(call_ns, request.protocol);
    };
    options.name = std::to_string(call_ns);
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(judged[Protocol::kHeat], 4);
    EXPECT_EQ(judged[Protocol::kShort], 2);
  }
}

}  // namespace
}  // namespace gemmsmith
