// What long calls are raced with beside the screened: places, square waves, wide tiles, walks.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "campaign/wide_tiles.h"
#include "program/cost.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

class PlacedTwinsTest : public CampaignTest {
 protected:
  PlacedTwinsTest() {
    options.problems = {{{4096, 4096, 4096}, {kTn}}};
    options.finalists = 4;
    options.heat_contenders = 12;
    options.placed_twins = true;
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
      if (request.protocol == Protocol::kShort) in_finals.insert(request.plan());
      const auto time = times.find(request.plan());
      return MeasuredIn(time == times.end() ? 600e3 : time->second, request.protocol);
    };
  }
  static Plan Words(std::string_view words) { return *ParsePlan("wgmma store=tma " + std::string(words)); }
  static Plan BackAndForth(Plan plan) {
    plan.Set("walk", int(Walk::kBackAndForth)), plan.Set("store", int(Store::kBoxesFirstOut));
    return plan;
  }

  const Plan persistent = Words("schedule=pingpong raster=4 ctas=even"),
             near = Words("schedule=pingpong raster=8 place=near");
  std::map<Plan, double> times = {{persistent, 500e3}, {near, 480e3}};
  std::set<Plan> in_heat, in_finals;
};

TEST_F(PlacedTwinsTest, PersistentKernelsOfLongCallsAreRacedInBothPlaces) {
  std::vector<Plan> plans = {persistent};
  for (const char* tile : {"tile_n=64", "tile_n=96", "tile_n=128", "tile_n=192"}) plans.push_back(Words(tile));
  space = Space(plans);
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::set<Plan> expected(plans.begin(), plans.end());
  expected.insert(near);
  EXPECT_EQ(in_heat, expected) << "the others are not persistent";
  EXPECT_TRUE(in_finals.contains(near) && in_finals.contains(persistent));
  EXPECT_EQ(in_finals.size(), 3u);
  EXPECT_EQ(result->best->plan(), near);
  EXPECT_EQ(result->evaluations, int(plans.size())) << "twins are no evaluations";
  options.finished_after = int(plans.size());
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> again = RunWhole();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->found) << "three finalists are all that long calls have";
  EXPECT_EQ(again->best->plan(), near);
  EXPECT_EQ(evaluator.requests.size(), requests);
}

TEST_F(PlacedTwinsTest, WhereAllReachTheFinalsThereIsNoHeat) {
  space = Space(std::vector<Plan>{persistent});
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(in_heat.empty());
  EXPECT_EQ(in_finals, (std::set<Plan>{near, persistent}));
  EXPECT_EQ(result->best->plan(), near);
  EXPECT_EQ(result->evaluations, 1);
  in_finals.clear();
  const Result<ProblemResult> again = RunWhole();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(in_finals.empty());
  EXPECT_EQ(again->best->plan(), near);
  EXPECT_EQ(again->evaluations, 0);
  EXPECT_EQ(again->resumed, 1);
}

TEST_F(PlacedTwinsTest, TheStandingKernelIsRacedInBothPlacesBeforeOthers) {
  const Plan standing = Words("schedule=pingpong tile_m=192 raster=16"), standing_near = [&] {
    Plan plan = standing;
    plan.Set("place", 1);
    return plan;
  }();
  std::vector<Plan> plans;
  for (const char* tile : {"tile_n=64", "tile_n=96", "tile_n=128", "tile_n=160", "tile_n=192"})
    plans.push_back(Words(std::string("schedule=pingpong ") + tile));
  space = Space(plans);
  options.heat_contenders = 4;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .decide = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_heat.contains(standing) && in_heat.contains(standing_near));
  EXPECT_EQ(in_heat.size(), 4u);
  EXPECT_TRUE(in_finals.contains(standing)) << "as slow as others, but it decides whether anything changes";
}

TEST_F(PlacedTwinsTest, LongCallsAreRacedWithSquareWavesToo) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const Plan columns = Words("schedule=pingpong raster=m"), square = Words("schedule=pingpong raster=8"),
             wide = Words("schedule=pingpong tile_n=192 raster=16"),
             narrow = Words("schedule=pingpong tile_n=64 raster=8");
  ASSERT_LT(WaveBytes(square, options.problems[0], SomeDevice()),
            0.7 * WaveBytes(columns, options.problems[0], SomeDevice()));
  space = Space({columns, wide, narrow});
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(in_heat, (std::set<Plan>{columns, square, wide, narrow})) << "two of them are square enough";
  EXPECT_EQ(result->evaluations, 3) << "twins are no evaluations";
}

// A twin that no heat was needed for is no evaluation either, and the same again leaves nothing to do.
TEST_F(PlacedTwinsTest, WithSquareWavesToWhereAllReachTheFinalsThereIsNoHeatEither) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const Plan columns = Words("schedule=pingpong raster=m"), square = Words("schedule=pingpong raster=8");
  space = Space({columns});
  for (const Objective objective : {Objective::kTime, Objective::kEnergy}) {
    options.objective = objective;
    options.name = std::to_string(int(objective));
    in_finals.clear();
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(in_heat.empty());
    std::set<Plan> expected = {columns, square};
    if (objective == Objective::kTime) expected = {BackAndForth(columns), BackAndForth(square)};
    EXPECT_EQ(in_finals, expected);
    EXPECT_EQ(result->evaluations, 1);
    in_finals.clear();
    const Result<ProblemResult> again = RunWhole();
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(in_finals.empty());
    EXPECT_EQ(again->evaluations, 0);
    EXPECT_EQ(again->resumed, 1);
  }
}

TEST_F(PlacedTwinsTest, WhereKIsLargeLongCallsAreRacedWithWideTilesToo) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const std::set<Plan> screened = {Words("schedule=pingpong raster=8"), Words("schedule=pingpong tile_n=192 raster=16"),
                                   Words("schedule=pingpong tile_n=64 raster=8")};
  space = Space(std::vector<Plan>(screened.begin(), screened.end()));
  for (const int k : {2048, 8192}) {
    options.problems = {{{8192, 8192, k}, {kTn}}};
    options.name = std::to_string(k);
    in_heat.clear(), in_finals.clear();
    ASSERT_TRUE(RunWhole().ok());
    std::set<Plan> expected = screened;
    for (const Plan& plan : WideTiles(options.problems[0], SomeDevice(), 2)) expected.insert(plan);
    EXPECT_EQ(expected.size(), k == 8192 ? 7u : 3u) << "two wide ones, and two that share what is left over";
    EXPECT_EQ(in_heat, k == 8192 ? expected : std::set<Plan>()) << "three alone reach the finals anyway";
    EXPECT_EQ(in_finals.size(), 3u);
  }
}

TEST_F(PlacedTwinsTest, FinalistsOfLongCallsGoBackAndForthAndTheStandingKernelAsItIsToo) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const Plan standing = Words("schedule=pingpong tile_m=192 raster=8"), fastest = Words("schedule=pingpong raster=8"),
             one_tile = Words("tile_n=64");
  space = Space({fastest, one_tile, Words("schedule=pingpong tile_n=96 raster=8"),
                 Words("schedule=pingpong tile_n=64 raster=8"), Words("schedule=pingpong tile_n=192 raster=8")});
  times[fastest] = 400e3, times[standing] = 410e3, times[one_tile] = 420e3, times[BackAndForth(fastest)] = 390e3;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .decide = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(in_heat.contains(fastest) && in_heat.contains(standing) && !in_heat.contains(BackAndForth(fastest)));
  EXPECT_EQ(in_finals, (std::set<Plan>{standing, BackAndForth(standing), BackAndForth(fastest), one_tile}));
  EXPECT_EQ(result->best->plan(), BackAndForth(fastest));
  in_finals.clear();
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_finals.empty());
}

TEST_F(PlacedTwinsTest, AStandingKernelThatWalksBackAndForthIsRacedSoAlone) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const Plan onward = Words("schedule=pingpong raster=8"), standing = BackAndForth(onward);
  space = Space({onward, Words("tile_n=64"), Words("tile_n=96"), Words("tile_n=128"), Words("tile_n=192")});
  times[onward] = 400e3;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .decide = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_finals.contains(standing));
  EXPECT_FALSE(in_finals.contains(onward));
}

TEST_F(PlacedTwinsTest, AFinalistThatFailsBackAndForthIsRacedAsItIs) {
  options.placed_twins = false;
  options.raced_on = SomeDevice();
  const Plan fastest = Words("schedule=pingpong raster=8");
  space = Space({fastest, Words("tile_n=64"), Words("tile_n=96"), Words("tile_n=128"), Words("tile_n=192")});
  times[fastest] = 400e3;
  evaluator.judge = [&, judge = evaluator.judge](const EvaluationRequest& request) {
    const Result<Outcome> outcome = judge(request);
    if (request.plan() != BackAndForth(fastest)) return outcome;
    return Result<Outcome>(Outcome{.kind = OutcomeKind::kWrong, .protocol = request.protocol});
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_TRUE(in_finals.contains(fastest) && in_finals.contains(BackAndForth(fastest)));
  EXPECT_EQ(result->best->plan(), fastest);
}

TEST_F(PlacedTwinsTest, FinalsOfBeforeThereWereWalksStandAsTheyAre) {
  options.placed_twins = false;
  space = Space({Words("schedule=pingpong raster=8"), Words("schedule=pingpong tile_n=96 raster=8"),
                 Words("schedule=pingpong tile_n=64 raster=8"), Words("schedule=pingpong tile_n=192 raster=8")});
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_finals.size(), 3u);
  in_finals.clear();
  options.raced_on = SomeDevice();
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_finals.empty());
}

}  // namespace
}  // namespace gemmsmith
