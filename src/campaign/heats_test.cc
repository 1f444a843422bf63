// Who of the screened comes into the heat, and who of the heat into the finals.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, TheFastestOfTheScreeningMeetInOneHeatAndItsFastestInOneFinal) {
  options.finalists = 4;
  options.heat_candidates = 10;
  std::vector<std::pair<Protocol, std::set<Plan>>> together;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    if (candidates[0].request.protocol == Protocol::kScreen) return;
    together.emplace_back(candidates[0].request.protocol, std::set<Plan>());
    for (const Candidate& candidate : candidates) together.back().second.insert(candidate.request.plan());
  };
  // The heat turns the order of the screening round.
  evaluator.judge = [](const EvaluationRequest& request) {
    const double time_ns = SomeTimeNs(request.plan());
    return MeasuredIn(request.protocol == Protocol::kHeat ? 1e9 / time_ns : time_ns, request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  ASSERT_EQ(together.size(), 2u);
  EXPECT_EQ(together[0], std::pair(Protocol::kHeat, std::set<Plan>(plans.begin(), plans.begin() + 10)));
  EXPECT_EQ(together[1], std::pair(Protocol::kShort, std::set<Plan>(plans.begin() + 6, plans.begin() + 10)));
  EXPECT_EQ(CountTrials(Protocol::kHeat), 10);
}

TEST_F(CampaignTest, OneThatTheHeatRefusesIsNoFinalist) {
  options.finalists = 2;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan() == quick && request.protocol == Protocol::kHeat)
      return Outcome{.kind = OutcomeKind::kTimedOut, .protocol = Protocol::kHeat};
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  for (const Trial& trial : store.Trials()) {
    EXPECT_FALSE(trial.plan() == quick && trial.outcome.protocol == Protocol::kShort);
  }
  EXPECT_EQ(CountTrials(Protocol::kShort), 2);
}

// As a heat at the power cap goes: everybody is fast in its first rounds, and who stays is measured when all are
// slower.
TEST_F(CampaignTest, WhoDropsOutOfAHeatIsNoFinalistHoweverFastItWasThere) {
  options.finalists = 4;
  options.heat_candidates = 10;
  std::set<Plan> finalists;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  const std::set<Plan> stayed(plans.begin() + 3, plans.begin() + 7);
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kShort) finalists.insert(request.plan());
    const bool stays = request.protocol == Protocol::kHeat && stayed.contains(request.plan());
    Outcome outcome = MeasuredIn((stays ? 1.1 : 1.0) * SomeTimeNs(request.plan()), request.protocol);
    outcome.timings[0].sample_count = stays ? 35 : 5;
    return outcome;
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(finalists, stayed);
}

// Lists of a screening are judged one after the other, on a GPU that becomes slower meanwhile.
TEST_F(CampaignTest, TheScreenedAreToldApartByWhatTheyTakeBesideAutoTuning) {
  options.finalists = 4;
  options.heat_candidates = 10;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  std::set<Plan> in_heat;
  double slower = 1;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    slower += 0.1;
    const double time_ns = SomeTimeNs(request.plan());
    Outcome outcome = MeasuredIn(slower * time_ns, request.protocol);
    outcome.comparisons = {
        {.baseline = "lt_auto_nn", .clock = Clock::kDeviceCold, .ratio = {.median = 3000 / time_ns}},
        {.baseline = "lt_auto_tn", .clock = Clock::kDeviceCold, .ratio = {.median = 2000 / time_ns}}};
    return outcome;
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, std::set<Plan>(plans.begin(), plans.begin() + 10));
}

}  // namespace
}  // namespace gemmsmith
