#include "campaign/twins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/axes.h"
#include "program/launch.h"
#include "program/legality.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

TEST(PlacedTwin, IsLegalWhereTilesMakeEightRowsAndLessToo) {
  const auto expect = [](std::string_view words, int m, std::string_view raster) {
    const Gemm gemm{{m, 16384, 8192}, {kTn}};
    const std::string plan =
        "wgmma schedule=cooperative store=tma tile_m=256 tile_n=192 stages=3 " + std::string(words);
    const std::optional<Plan> twin = PlacedTwin(*ParsePlan(plan), gemm.shape);
    ASSERT_TRUE(twin);
    EXPECT_TRUE(IsLegal(*twin, gemm, SomeDevice())) << Print(*twin);
    EXPECT_NE(Print(*twin).find(raster), std::string::npos) << m << " " << Print(*twin);
  };
  expect("", 1024, "raster=m");
  expect("", 2048, "raster=m");
  expect("", 2304, "raster=8");
  expect("cluster_m=2", 2048, "raster=m");
  expect("cluster_m=2", 2304, "raster=4");
  expect("ctas=shared finish=in_turn", 3072, "ctas=shared");
  expect("ctas=even", 1024, "ctas=all");
}

TEST(BackAndForthTwin, LeavesLinesOfCFirstAndIsOfPersistentKernelsWhoseOperandsL2CannotHold) {
  const Gemm gemm{{4096, 4096, 4096}, {kTn}};
  const auto twin = [&](std::string_view words, const Gemm& of) {
    const std::optional<Plan> plan = BackAndForthTwin(*ParsePlan("wgmma " + std::string(words)), of, SomeDevice());
    return plan ? Print(*plan) : "";
  };
  EXPECT_EQ(twin("schedule=pingpong store=tma raster=8", gemm),
            Print(*ParsePlan("wgmma schedule=pingpong store=tma_first_out raster=8 walk=back_and_forth")));
  const Gemm odd_lines{{4096, 4100, 4096}, {kTn}};
  EXPECT_EQ(twin("schedule=pingpong store=rows raster=8", odd_lines),
            Print(*ParsePlan("wgmma schedule=pingpong store=rows raster=8 walk=back_and_forth")));
  EXPECT_EQ(twin("store=tma", gemm), "") << "one tile a CTA";
  EXPECT_EQ(twin("schedule=pingpong store=tma_first_out raster=8 walk=back_and_forth", gemm), "");
  EXPECT_EQ(twin("schedule=pingpong store=tma", {{2048, 2048, 2048}, {kTn}}), "") << "in L2";
  EXPECT_NE(twin("schedule=pingpong store=tma", {{4096, 4096, 8192}, {kTn}}), "");
  EXPECT_NE(twin("schedule=pingpong store=tma", {{8192, 8192, 2048}, {kTn}}), "");
  EXPECT_NE(twin("schedule=pingpong store=tma", {{4096, 4096, 12288}, {kTn}}), "") << "with any longer K";
  EXPECT_EQ(twin("schedule=pingpong store=tma", {{16384, 16384, 1024}, {kTn}}), "");
}

TEST(AlternatingTwins, StreamTheLongerOperandAndKeepNothingOrTheLargestSharesOfItsLines) {
  const auto twins = [](std::string_view words, const Shape& shape) {
    std::vector<std::string> differences;
    for (const Plan& twin : AlternatingTwins(*ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 " + std::string(words)),
                                             {shape, {kTn}}, SomeDevice())) {
      EXPECT_EQ(WgmmaPlan(twin).walk, Walk::kAlternating);
      const Plan& read = twin;
      const Family& family = GetFamily(twin.family);
      const auto word = [&](std::string_view name) {
        const auto axis = size_t(family.IndexOf(name));
        return family.parameters[axis].Print(read.values[axis]);
      };
      EXPECT_EQ(word("kept"), word("keep") == "0" ? "steps" : "lines");
      differences.push_back(word("stream") + " " + word("keep"));
    }
    return differences;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(twins("", {64, 8192, 8192}), (Words{"b 4", "b 3", "b 0"})) << "134 MB, 34 and 25 of them";
  EXPECT_EQ(twins("stream=b keep=1", {64, 8192, 16384}), (Words{"b 2", "b 1", "b 0"}));
  EXPECT_EQ(twins("", {8192, 64, 8192}), (Words{"a 4", "a 3", "a 0"}));
  EXPECT_EQ(twins("", {512, 1024, 16384}), (Words{"none 0"})) << "more than four rows of tiles read B";
  EXPECT_EQ(twins("stream=b keep=3/2 walk=alternating", {64, 8192, 16384}), (Words{"b 2", "b 1", "b 0"}));
  EXPECT_EQ(twins("stream=b keep=2 kept=lines walk=alternating", {64, 8192, 16384}), Words{});
  EXPECT_EQ(twins("stream=b walk=alternating", {64, 8192, 16384}), (Words{"b 2", "b 1"})) << "not itself";
  EXPECT_EQ(twins("walk=alternating", {512, 1024, 16384}), Words{});
  EXPECT_EQ(twins("", {64, 4096, 4096}), Words{}) << "in L2";
  EXPECT_EQ(twins("", {64, 65536, 8192}), Words{}) << "1,024 tiles";
}

// What L2 cannot hold.
TEST_F(CampaignTest, TheFastestOfSkinnyProductsAreRacedInLaunchesThatAlternate) {
  options.problems = {{{64, 8192, 8192}, {kTn}}};
  options.finalists = 2;
  options.heat_contenders = 3;
  std::vector<Plan> plans;
  for (const char* stages : {"4", "5", "6", "7"})
    plans.push_back(
        *ParsePlan(fmt::format("wgmma tile_m=64 tile_n=64 warpgroups=1 fixed=all trigger=late stages={}", stages)));
  space = Space(plans);
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return MeasuredIn(WgmmaPlan(request.plan()).alternates() ? 10e3 : 20e3 + SomeTimeNs(request.plan()) / 1e3,
                      request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(std::ranges::none_of(in_heat, [](const Plan& plan) { return WgmmaPlan(plan).alternates(); }))
      << "nobody knows on which device";
  in_heat.clear();
  options.raced_on = SomeDevice(), options.name = "on a device";
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  const auto alternating =
      std::ranges::count_if(in_heat, [](const Plan& plan) { return WgmmaPlan(plan).alternates(); });
  EXPECT_EQ(alternating, 3 * 3 + 3) << "three of each, and the first one's once more, ending first";
  EXPECT_EQ(result->evaluations, 4) << "twins are no evaluations";
  EXPECT_TRUE(WgmmaPlan(result->best->plan()).alternates());
}

// The screened kernels are shared by many shapes.
TEST_F(CampaignTest, TheFastestBringTwinsWithAllDimensionsKnown) {
  options.finalists = 2;
  options.heat_contenders = 3;
  options.fixed_twins = 2;
  std::vector<Plan> plans = space.plans();
  std::erase_if(plans, [](const Plan& plan) { return plan.Get("fixed") != int(FixedDimensions::kNone); });
  ASSERT_GT(plans.size(), 4u);
  space = Space(plans);
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  Plan twin = plans[1];
  twin.Set("fixed", int(FixedDimensions::kAll));
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return MeasuredIn(request.plan() == twin ? 1 : SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_EQ(result->best->plan(), twin);
  EXPECT_EQ(in_heat.size(), 3u + 2);
  EXPECT_EQ(result->evaluations, int(space.size())) << "a twin is no evaluation";
}

// The screened kernels may be chained.
TEST_F(CampaignTest, TheFastestOfShortCallsBringTwinsWithoutATrigger) {
  options.finalists = 2;
  options.heat_contenders = 3;
  options.fixed_twins = 2;
  for (const bool are_short : {true, false}) {
    options.name = are_short ? "short" : "long";
    std::vector<Plan> plans = space.plans();
    for (Plan& plan : plans) plan.Set("fixed", int(FixedDimensions::kAll)), plan.Set("trigger", int(Trigger::kLate));
    std::sort(plans.begin(), plans.end());
    plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
    ASSERT_GT(plans.size(), 4u);
    space = Space(plans);
    int without = 0;
    evaluator.judge = [&](const EvaluationRequest& request) {
      const bool has_none = request.plan().Get("trigger") == int(Trigger::kNone);
      without += has_none && request.protocol == Protocol::kHeat;
      const double share = SomeTimeNs(request.plan()) / 1e6;  // below one
      return MeasuredIn((are_short ? 4000 : 6000) + share - 100 * has_none, request.protocol);
    };
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok() && result->best);
    EXPECT_EQ(without, are_short ? 2 : 0);
    EXPECT_EQ(result->best->plan().Get("trigger"), int(are_short ? Trigger::kNone : Trigger::kLate));
  }
}

// A plain call of a kernel without a trigger is as fast as one with; only chains tell.
TEST_F(CampaignTest, TheFastestBringTwinsWithOtherTriggersAndTheFastestInChainsIsAFinalist) {
  options.finalists = 4;
  options.heat_contenders = 6;
  options.chained_twins = 2;
  const Plan quick = Fastest();
  Plan soon = quick;
  soon.Set("trigger", int(Trigger::kSoon));
  std::map<Protocol, std::set<Plan>> judged;
  evaluator.judge = [&](const EvaluationRequest& request) {
    const Plan& plan = request.plan();
    judged[request.protocol].insert(plan);
    const Outcome outcome = MeasuredIn(plan.Get("trigger") == 0 ? SomeTimeNs(plan) : 500'000, request.protocol);
    if (plan.Get("trigger") == 0) return outcome;
    return InChains(outcome, plan == soon ? 400 : 600);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_EQ(result->best->plan(), quick);
  EXPECT_EQ(result->evaluations, int(space.size()));
  EXPECT_EQ(judged[Protocol::kHeat].size(), 6u + 2 * 3);
  EXPECT_EQ(judged[Protocol::kShort].size(), 4u);
  EXPECT_TRUE(judged[Protocol::kShort].contains(soon));
  // Nothing is judged again.
  const size_t requests = evaluator.requests.size();
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(evaluator.requests.size(), requests);
}

TEST_F(CampaignTest, TheFastestInChainsJoinsTheHeatHoweverSlowAPlainCallWas) {
  options.finalists = 4;
  options.heat_contenders = 6;
  options.chained_twins = 1;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  const Plan slow = plans.back();
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return InChains(MeasuredIn(SomeTimeNs(request.plan()), request.protocol), request.plan() == slow ? 400 : 600);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_heat.contains(slow));
  EXPECT_EQ(in_heat.size(), 6u + 1 + 3);
}

// What it gains between launches is less than 5 % of a call.
TEST_F(CampaignTest, WhoeverGainsLittleInChainsIsRacedThereAsOneThatEndsFirst) {
  options.finalists = 2;
  options.heat_contenders = 4;
  options.chained_twins = 1;
  options.fixed_twins = 3;
  for (const auto& [call_ns, chained_over_plain, twins] :
       {std::tuple(10e3, 0.9, 0u), {10e3, 0.99, 2u}, {10e3, 1.1, 2u}, {2e3, 0.99, 0u}}) {
    options.name = fmt::format("{} {}", call_ns, chained_over_plain);
    const double share = chained_over_plain, shortest_ns = call_ns;
    std::set<Plan> last_in_heat;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat && request.plan().Get("trigger") == int(Trigger::kLast))
        last_in_heat.insert(request.plan());
      const Outcome outcome = MeasuredIn(shortest_ns + SomeTimeNs(request.plan()) / 1e3, request.protocol);
      return InChains(outcome, outcome.TimeNs() * share);
    };
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(last_in_heat.size(), twins) << options.name;
    for (const Plan& plan : last_in_heat) EXPECT_EQ(plan.Get("fixed"), int(FixedDimensions::kAll));
  }
}

TEST_F(CampaignTest, SplitsThatFillAMultiprocessorBringTheSameWithAShortRing) {
  options.problems = {{{512, 512, 4096}, {kTn}}};
  options.finalists = 2;
  options.heat_contenders = 2;
  options.chained_twins = 1;
  options.room_for_next_bytes = SomeDevice().RoomForTwoBytes();
  const auto plan = [](int stages, int split) {
    return *ParsePlan(fmt::format(
        "wgmma tile_m=64 tile_n=128 warpgroups=1 stages={} split={} reduction=add trigger=late", stages, split));
  };
  for (const int split : {1, 4}) {
    options.name = fmt::format("split {}", split);
    space = Space({plan(7, split), plan(6, split), plan(2, split)});
    std::set<Plan> in_heat;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
      const double time_ns = 1000 - request.plan().Get("stages");
      return InChains(MeasuredIn(time_ns, request.protocol),
                      2000 - time_ns);  // the shortest ring is the fastest in chains
    };
    ASSERT_TRUE(RunWhole().ok());
    std::map<Trigger, std::set<int>> rings;
    for (const Plan& one : in_heat) rings[Trigger(one.Get("trigger"))].insert(one.Get("stages"));
    const auto fits = [&](int stages) {
      return LaunchFor(plan(stages, split), options.problems[0]).smem_bytes <= options.room_for_next_bytes;
    };
    EXPECT_TRUE(fits(3) && !fits(4));
    EXPECT_EQ(rings[Trigger::kLate], (split == 4 ? std::set{2, 3, 6, 7} : std::set{2, 6, 7}));
    for (const Trigger trigger : {Trigger::kEarly, Trigger::kSoon})
      EXPECT_EQ(rings[trigger], std::set{2}) << "one that is short enough is not made shorter";
  }
}

}  // namespace
}  // namespace gemmsmith
