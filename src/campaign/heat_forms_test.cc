// Other forms of the fastest plans that join a heat: known dimensions, triggers, shorter rings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/family.h"
#include "program/launch.h"

namespace gemmsmith {
namespace {

FixedDimensions FixedOf(const Plan& plan) { return FixedDimensions(plan.Get("fixed")); }

// Shapes share the screened kernels.
TEST_F(CampaignTest, TheFastestBringFormsWithAllDimensionsKnown) {
  options.finalists = 2;
  options.heat_candidates = 3;
  options.fixed_twins = 2;
  std::vector<Plan> plans = space.plans();
  std::erase_if(plans, [](const Plan& plan) { return FixedOf(plan) != FixedDimensions::kNone; });
  ASSERT_GT(plans.size(), 4u);
  space = Space(plans);
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  const Plan fixed = WithFixed(plans[1], FixedDimensions::kAll);
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return MeasuredIn(request.plan() == fixed ? 1 : SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_EQ(result->best->plan(), fixed);
  EXPECT_EQ(in_heat.size(), 3u + 2);
  EXPECT_EQ(result->evaluations, int(space.size())) << "another form is no evaluation";
}

// The screened kernels have a trigger.
TEST_F(CampaignTest, TheFastestOfShortCallsBringFormsWithoutATrigger) {
  options.finalists = 2;
  options.heat_candidates = 3;
  options.fixed_twins = 2;
  for (const bool are_short : {true, false}) {
    options.name = are_short ? "short" : "long";
    std::vector<Plan> plans = space.plans();
    for (Plan& plan : plans) plan = WithTrigger(WithFixed(plan, FixedDimensions::kAll), Trigger::kLate);
    std::sort(plans.begin(), plans.end());
    plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
    ASSERT_GT(plans.size(), 4u);
    space = Space(plans);
    int without = 0;
    evaluator.judge = [&](const EvaluationRequest& request) {
      const bool has_none = TriggerOf(request.plan()) == Trigger::kNone;
      without += has_none && request.protocol == Protocol::kHeat;
      const double share = SomeTimeNs(request.plan()) / 1e6;  // below one
      return MeasuredIn((are_short ? 4000 : 6000) + share - 100 * has_none, request.protocol);
    };
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok() && result->best);
    EXPECT_EQ(without, are_short ? 2 : 0);
    EXPECT_EQ(TriggerOf(result->best->plan()), are_short ? Trigger::kNone : Trigger::kLate);
  }
}

// Triggers differ in chains only.
TEST_F(CampaignTest, TheFastestBringFormsWithOtherTriggersAndTheFastestInChainsIsAFinalist) {
  options.finalists = 4;
  options.heat_candidates = 6;
  options.chained_twins = 2;
  const Plan quick = Fastest();
  const Plan soon = WithTrigger(quick, Trigger::kSoon);
  std::map<Protocol, std::set<Plan>> judged;
  evaluator.judge = [&](const EvaluationRequest& request) {
    const Plan& plan = request.plan();
    judged[request.protocol].insert(plan);
    const bool has_none = TriggerOf(plan) == Trigger::kNone;
    const Outcome outcome = MeasuredIn(has_none ? SomeTimeNs(plan) : 500'000, request.protocol);
    if (has_none) return outcome;
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
  options.heat_candidates = 6;
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

// It gains less than 5 % of a call between launches.
TEST_F(CampaignTest, AFastPlanThatGainsLittleInChainsIsRacedWithTheLastTriggerToo) {
  options.finalists = 2;
  options.heat_candidates = 4;
  options.chained_twins = 1;
  options.fixed_twins = 3;
  for (const auto& [call_ns, chained_over_plain, forms] :
       {std::tuple(10e3, 0.9, 0u), {10e3, 0.99, 2u}, {10e3, 1.1, 2u}, {2e3, 0.99, 0u}}) {
    options.name = fmt::format("{} {}", call_ns, chained_over_plain);
    const double share = chained_over_plain, shortest_ns = call_ns;
    std::set<Plan> last_in_heat;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat && TriggerOf(request.plan()) == Trigger::kLast)
        last_in_heat.insert(request.plan());
      const Outcome outcome = MeasuredIn(shortest_ns + SomeTimeNs(request.plan()) / 1e3, request.protocol);
      return InChains(outcome, outcome.TimeNs() * share);
    };
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(last_in_heat.size(), forms) << options.name;
    for (const Plan& plan : last_in_heat) EXPECT_EQ(FixedOf(plan), FixedDimensions::kAll);
  }
}

TEST_F(CampaignTest, SplitsThatFillAMultiprocessorBringAFormWithAShorterRing) {
  options.problems = {{{512, 512, 4096}, {kTn}}};
  options.finalists = 2;
  options.heat_candidates = 2;
  options.chained_twins = 1;
  options.raced_on = SomeDevice();
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
    for (const Plan& one : in_heat) rings[TriggerOf(one)].insert(one.Get("stages"));
    const auto fits = [&](int stages) {
      return LaunchFor(plan(stages, split), options.problems[0]).smem_bytes <= SomeDevice().RoomForTwoBytes();
    };
    EXPECT_TRUE(fits(3) && !fits(4));
    EXPECT_EQ(rings[Trigger::kLate], (split == 4 ? std::set{2, 3, 6, 7} : std::set{2, 6, 7}));
    for (const Trigger trigger : {Trigger::kEarly, Trigger::kSoon})
      EXPECT_EQ(rings[trigger], std::set{2}) << "a ring that fits is not made shorter";
  }
}

}  // namespace
}  // namespace gemmsmith
