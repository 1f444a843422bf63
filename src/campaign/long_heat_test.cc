// Heats of long calls: squarer waves and wide tiles join the screened plans.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/family.h"

namespace gemmsmith {
namespace {

class LongHeatTest : public CampaignTest {
 protected:
  LongHeatTest() {
    options.problems = {{{4096, 4096, 4096}, {kTn}}};
    options.finalists = 3;
    options.heat_candidates = 12;
    options.raced_on = SomeDevice();
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
      if (request.protocol == Protocol::kShort) in_finals.insert(request.plan());
      const auto time = times.find(request.plan());
      return MeasuredIn(time == times.end() ? 600e3 : time->second, request.protocol);
    };
  }
  static Plan Words(std::string_view words) { return *ParsePlan("wgmma store=tma " + std::string(words)); }
  std::vector<Plan> Squarer(const Plan& plan) const {
    return GetFamily(plan.family)
        .Variants(plan, options.problems[0], SomeDevice(), {.kind = RaceOccasion::Kind::kPowerCapped});
  }

  const Plan columns = Words("schedule=pingpong raster=m"), square = Words("schedule=pingpong raster=8"),
             wide = Words("schedule=pingpong tile_n=192 raster=16"),
             narrow = Words("schedule=pingpong tile_n=64 raster=8");
  std::map<Plan, double> times = {{columns, 500e3}, {square, 480e3}};
  std::set<Plan> in_heat, in_finals;
};

TEST_F(LongHeatTest, LongCallsAreRacedWithSquarerWavesToo) {
  ASSERT_EQ(Squarer(columns), std::vector{square});
  ASSERT_TRUE(Squarer(wide).empty() && Squarer(narrow).empty());
  const Plan one_tile = Words("tile_n=64 raster=8");
  space = Space({columns, wide, narrow, one_tile});
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(in_heat, (std::set<Plan>{columns, square, wide, narrow, one_tile}));
  EXPECT_TRUE(in_finals.contains(columns) && in_finals.contains(square));
  EXPECT_EQ(in_finals.size(), 3u);
  EXPECT_EQ(result->best->plan(), square);
  EXPECT_EQ(result->evaluations, 4) << "variants are no evaluations";
  options.finished_after = 4;
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> again = RunWhole();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->found);
  EXPECT_EQ(again->best->plan(), square);
  EXPECT_EQ(evaluator.requests.size(), requests);
}

TEST_F(LongHeatTest, WithoutADeviceThereAreNoVariants) {
  options.raced_on.reset();
  space = Space({columns, wide, narrow, Words("schedule=pingpong tile_n=96 raster=8")});
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, std::set<Plan>(space.plans().begin(), space.plans().end()));
}

// The same run again leaves nothing to do.
TEST_F(LongHeatTest, WhereAllReachTheFinalsThereIsNoHeat) {
  space = Space({columns});
  for (const Objective objective : {Objective::kTime, Objective::kEnergy}) {
    options.objective = objective;
    options.name = Name(objective);
    in_finals.clear();
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(in_heat.empty());
    EXPECT_EQ(in_finals, (std::set<Plan>{columns, square}));
    EXPECT_EQ(result->best->plan(), square);
    EXPECT_EQ(result->evaluations, 1);
    in_finals.clear();
    const Result<ProblemResult> again = RunWhole();
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(in_finals.empty());
    EXPECT_EQ(again->best->plan(), square);
    EXPECT_EQ(again->evaluations, 0);
    EXPECT_EQ(again->resumed, 1);
  }
}

TEST_F(LongHeatTest, TheStandingKernelAndItsVariantsAreRacedBeforeOthers) {
  const Plan standing = Words("schedule=pingpong tile_m=192 raster=m");
  const std::vector<Plan> variants = Squarer(standing);
  ASSERT_EQ(variants.size(), 1u);
  std::vector<Plan> plans;
  for (const char* tile : {"tile_n=64", "tile_n=96", "tile_n=128", "tile_n=160", "tile_n=192"})
    plans.push_back(Words(std::string("schedule=pingpong raster=8 ") + tile));
  space = Space(plans);
  options.heat_candidates = 4;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .decide = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_heat.contains(standing) && in_heat.contains(variants[0]));
  EXPECT_EQ(in_heat.size(), 4u);
  EXPECT_TRUE(in_finals.contains(standing)) << "as slow as others, but it decides whether anything changes";
}

TEST_F(LongHeatTest, WhereKIsLargeWideTilesAreRacedToo) {
  const std::set<Plan> screened = {square, wide, narrow};
  space = Space(std::vector<Plan>(screened.begin(), screened.end()));
  const Family& wgmma = GetFamily(FamilyId::kWgmma);
  for (const int k : {2048, 8192}) {
    options.problems = {{{8192, 8192, k}, {kTn}}};
    options.name = std::to_string(k);
    in_heat.clear(), in_finals.clear();
    ASSERT_TRUE(RunWhole().ok());
    std::set<Plan> expected = screened;
    for (const Plan& plan : wgmma.LongCallOpenings(options.problems[0], SomeDevice(), 2)) expected.insert(plan);
    EXPECT_EQ(expected.size(), k == 8192 ? 5u : 3u);
    EXPECT_EQ(in_heat, k == 8192 ? expected : std::set<Plan>()) << "three alone reach the finals anyway";
    EXPECT_EQ(in_finals.size(), 3u);
  }
}

}  // namespace
}  // namespace gemmsmith
