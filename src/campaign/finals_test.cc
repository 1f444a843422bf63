#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "campaign/campaign_fixture.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, FinalistsAreJudgedAgainWithCareAndDecide) {
  options.finalists = 4;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    const bool slow_when_looked_at = request.plan() == quick && request.protocol == Protocol::kShort;
    return MeasuredIn(slow_when_looked_at ? 1e9 : SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan(), quick);
  EXPECT_EQ(result->best->outcome.protocol, Protocol::kShort);
  for (const EvaluationRequest& request : evaluator.requests)
    EXPECT_EQ(request.clocks.Has(Clock::kOffline), request.protocol == Protocol::kShort);
  EXPECT_EQ(CountTrials(Protocol::kShort), 4);
  EXPECT_EQ(store.Trials().size(), space.size() + options.heat_candidates + 4);
}

TEST_F(CampaignTest, FinalistsResume) {
  options.finalists = 4;
  const Result<ProblemResult> first = RunWhole();
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> second = RunWhole();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(evaluator.requests.size(), requests);
  EXPECT_EQ(second->resumed, int(space.size()));
  EXPECT_EQ(second->best->plan(), first->best->plan());
  EXPECT_EQ(second->best->outcome.protocol, Protocol::kShort);
}

TEST_F(CampaignTest, AFinalistThatFailsMakesRoomForTheNext) {
  options.finalists = 2;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan() == quick && request.protocol == Protocol::kShort)
      return Outcome{.kind = OutcomeKind::kWrong, .protocol = Protocol::kShort};
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan(), quick);
  EXPECT_EQ(CountTrials(Protocol::kShort), 3);
}

// So few were there at first that all of them went to the finals without a heat.
TEST_F(CampaignTest, FinalistsOfASmallBudgetGiveWayToFasterOnesOfALargerOne) {
  options.finalists = 2;
  options.heat_candidates = 10;
  for (const double call_ns : {2e3, 2e6}) {
    options.name = std::to_string(call_ns);
    std::map<Plan, double> times;  // who is asked for later is faster
    evaluator.judge = [&](const EvaluationRequest& request) {
      const double time_ns =
          times.try_emplace(request.plan(), call_ns * (1 - 0.01 * double(times.size()))).first->second;
      return MeasuredIn(time_ns, request.protocol);
    };
    ASSERT_TRUE(RunWith(store.archive.get(), 2).ok());
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_TRUE(result->best);
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    EXPECT_EQ(result->best->plan(), std::ranges::min_element(times, by_time)->first) << options.name;
    EXPECT_EQ(result->best->outcome.protocol, Protocol::kShort);
  }
}

// The slower a finalist is, the less it draws.
TEST_F(CampaignTest, WithEnergyForItsObjectiveTheFinalsDecideByJoules) {
  options.finalists = 3;
  options.objective = Objective::kEnergy;
  evaluator.judge = [](const EvaluationRequest& request) {
    Outcome outcome = MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
    if (!request.clocks.Has(Clock::kEnergy)) return outcome;
    const double joules = 1e3 / SomeTimeNs(request.plan());
    outcome.timings.push_back({.contender = "ours",
                               .clock = Clock::kEnergy,
                               .median_ns = SomeTimeNs(request.plan()),
                               .energy = Energy{joules, {joules, joules}, 600, 1700}});
    return outcome;
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::vector<Plan> by_time = space.plans();
  std::sort(by_time.begin(), by_time.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->plan(), by_time[2]);
  for (const EvaluationRequest& request : evaluator.requests)
    EXPECT_EQ(request.clocks.Has(Clock::kEnergy), request.protocol == Protocol::kShort);
}

TEST_F(CampaignTest, TheStandingKernelJoinsHeatAndFinalsWhichDecideOncePerRun) {
  const Plan standing = space.plans().back();
  space = Space(std::vector<Plan>(space.plans().begin(), space.plans().end() - 1));
  options.finalists = 4;
  options.finished_after = 1;
  std::vector<std::vector<Trial>> decided;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .decide =
                          [&](const Gemm& gemm, std::span<const Trial> finals) {
                            EXPECT_EQ(gemm, SomeGemm());
                            decided.emplace_back(finals.begin(), finals.end());
                            return OkStatus();
                          }};
  const Result<ProblemResult> first = RunWhole();
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->evaluations, int(space.size())) << "it costs no budget";
  const auto judged = [&](Protocol protocol) {
    return std::count_if(evaluator.requests.begin(), evaluator.requests.end(), [&](const EvaluationRequest& request) {
      return request.plan() == standing && request.protocol == protocol;
    });
  };
  EXPECT_EQ(judged(Protocol::kScreen), 0);
  EXPECT_EQ(judged(Protocol::kHeat), 1);
  EXPECT_EQ(judged(Protocol::kShort), 1);
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_TRUE(std::any_of(decided[0].begin(), decided[0].end(), [&](const Trial& t) { return t.plan() == standing; }));
  for (const Trial& trial : decided[0]) EXPECT_EQ(trial.outcome.protocol, Protocol::kShort);
  for (const EvaluationRequest& request : evaluator.requests) {
    EXPECT_EQ(request.clocks.Has(Clock::kServer), request.protocol == Protocol::kShort);
    EXPECT_EQ(request.calls_of_fastest, request.protocol == Protocol::kShort);
  }
  // The run before may have ended in front of it.
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> second = RunWhole();
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_TRUE(second->found);
  EXPECT_EQ(evaluator.requests.size(), requests);
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(decided[0].size(), decided[1].size());
}

TEST_F(CampaignTest, EveryStageIsTimedOnTheRingAndNoneOnRepeatedCalls) {
  options.finalists = 2;
  ASSERT_TRUE(RunWhole().ok());
  for (const EvaluationRequest& request : evaluator.requests) {
    EXPECT_TRUE(request.clocks.Has(Clock::kDeviceCold)) << Name(request.protocol);
    EXPECT_FALSE(request.clocks.Has(Clock::kDevice)) << Name(request.protocol);
  }
}

TEST_F(CampaignTest, ANameWhoseTrialsAreOfRepeatedCallsIsNotGoneOnWith) {
  evaluator.judge = [](const EvaluationRequest& request) {
    Outcome outcome = MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
    outcome.timings[0].clock = Clock::kDevice;
    return outcome;
  };
  ASSERT_TRUE(RunWhole().ok());
  const Result<ProblemResult> again = RunWhole();
  EXPECT_EQ(again.status().message(),
            "the stored trials of 'test' are timed on device, new ones on device_cold: choose another name");
}

}  // namespace
}  // namespace gemmsmith
