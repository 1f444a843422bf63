// Campaigns over many problems.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/emit.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

TEST_F(SetTest, NoProblemsAreDoneAtOnce) {
  options.problems.clear();
  EXPECT_TRUE(RunSet()->problems.empty());
}

TEST_F(SetTest, EveryProblemGoesThroughEveryStageInTheGivenOrder) {
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->stop_reason, "");
  EXPECT_EQ(result->judged, kProblems * kTrialsOfAProblem);
  EXPECT_EQ(told_complete, size_t(kProblems));
  ASSERT_EQ(result->problems.size(), size_t(kProblems));
  std::vector<Gemm> finals;
  for (const Trial& trial : store.Trials())
    if (trial.outcome.protocol == Protocol::kShort && (finals.empty() || finals.back() != trial.gemm))
      finals.push_back(trial.gemm);
  EXPECT_EQ(finals, options.problems);
  for (const ProblemResult& problem : result->problems) {
    EXPECT_TRUE(problem.complete && !problem.found);
    EXPECT_EQ(problem.evaluations, kBudget);
    ASSERT_TRUE(problem.best);
    EXPECT_EQ(problem.best->gemm, problem.gemm);
    EXPECT_EQ(problem.best->outcome.protocol, Protocol::kShort);
  }
}

TEST_F(SetTest, WhatIsFinishedIsFoundWithoutASearch) {
  const Result<CampaignResult> first = RunSet();
  ASSERT_TRUE(first.ok());
  const size_t requests = evaluator.requests.size();
  searches_made = 0;
  const Result<CampaignResult> second = RunSet();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(searches_made, 0);
  EXPECT_EQ(evaluator.requests.size(), requests);
  EXPECT_EQ(told_complete, size_t(kProblems));
  for (size_t i = 0; i < second->problems.size(); ++i) {
    EXPECT_TRUE(second->problems[i].found);
    EXPECT_EQ(second->problems[i].best, first->problems[i].best);
  }
}

TEST_F(SetTest, ALargerBudgetGoesOnWhereTheSmallerOneEnded) {
  ASSERT_TRUE(RunSet().ok());
  options.finished_after = 2 * kBudget;
  told_complete = 0;
  const Result<CampaignResult> result = RunAll(store.archive.get(), 2 * kBudget, *StopOnAny({}));
  ASSERT_TRUE(result.ok());
  for (const ProblemResult& problem : result->problems) {
    EXPECT_FALSE(problem.found);
    EXPECT_EQ(problem.resumed, kBudget);
    EXPECT_EQ(problem.evaluations, kBudget);
  }
}

TEST_F(SetTest, ALimitStopsItBetweenExchangesAndTheSameRunGoesOnFromThere) {
  int64_t judged = 0;
  int calls = 0;
  for (; calls < 100; ++calls) {
    class AfterExchanges : public StopRule {
     public:
      std::optional<std::string> ShouldStop(const Progress&) override {
        return ++asked_ > 8 ? std::optional<std::string>("limit") : std::nullopt;
      }

     private:
      int asked_ = 0;
    } limit;
    const Result<CampaignResult> result = RunSet(limit);
    ASSERT_TRUE(result.ok());
    judged += result->judged;
    EXPECT_EQ(int64_t(store.Trials().size()), judged);
    if (result->stop_reason.empty()) break;
    EXPECT_EQ(result->stop_reason, "limit");
    const auto open = [](const ProblemResult& problem) { return !problem.complete; };
    EXPECT_TRUE(std::any_of(result->problems.begin(), result->problems.end(), open));
  }
  EXPECT_GT(calls, 3);
  EXPECT_EQ(judged, kProblems * kTrialsOfAProblem) << "something was judged twice";
}

// The fastest is refused in the finals, and the run ends before the next may stand in for it.
TEST_F(SetTest, FinalsThatAreNotOverAreGoneOnWith) {
  options.problems.resize(1);
  options.finished_after = 0;
  std::optional<Plan> refused;
  evaluator.judge = [&](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.protocol == Protocol::kShort && !refused) refused = request.plan();
    if (request.protocol == Protocol::kShort && request.plan() == refused)
      return Outcome{.kind = OutcomeKind::kWrong, .protocol = Protocol::kShort};
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  class WhenRefused : public StopRule {
   public:
    explicit WhenRefused(const std::optional<Plan>& refused) : refused_(refused) {}
    std::optional<std::string> ShouldStop(const Progress&) override {
      return refused_ ? std::optional<std::string>("killed") : std::nullopt;
    }

   private:
    const std::optional<Plan>& refused_;
  } killed(refused);
  ASSERT_TRUE(RunSet(killed).ok());
  EXPECT_EQ(CountTrials(Protocol::kShort), 2) << "one passed, one did not";
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->problems[0].found);
  EXPECT_TRUE(result->problems[0].complete);
  EXPECT_EQ(CountTrials(Protocol::kShort), 3);
}

// The second problem has a list judged while the first waits for its compiler, which then takes its time.
TEST_F(SetTest, ABudgetOfSecondsIsOfTheProblemsOwnExchanges) {
  options.problems.resize(2);
  options.problems[1] = options.problems[0];
  options.problems[1].kind.layout = kNn;
  options.finished_after.reset();
  options.compile_threads = 24;  // more than a list of the first problem holds up
  std::vector<Plan> plans = RankedPlans(options.problems[0], SomeDevice(), kLiveSpaceSize);
  std::erase_if(plans, [&](const Plan& plan) { return !IsLegal(plan, options.problems[1], SomeDevice()); });
  ASSERT_GE(plans.size(), 40u);
  plans.resize(40);
  space = Space(plans);
  std::set<std::string> of_first;
  for (const Plan& plan : plans) of_first.insert(Emit(plan, options.problems[0]).text);
  std::atomic<bool> second_began = false;
  compiler.before = [&](const Source& source) {
    for (int i = 0; i < 5000 && of_first.contains(source.text) && !second_began; ++i) usleep(1000);
    return OkStatus();
  };
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    if (candidates[0].request.gemm == options.problems[1])
      second_began = true;
    else if (candidates[0].request.protocol == Protocol::kScreen)
      usleep(900'000);
  };
  const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
    return SomeSearch(gemm, space, StopAfterSeconds(0.5));
  };
  const Result<CampaignResult> result =
      RunCampaign(options, make_search, judges, &compiler, nullptr, *StopOnAny({}), on_event);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(second_began);
  EXPECT_EQ(result->problems[0].stop_reason, "budget of 0.5 s used");
  EXPECT_EQ(result->problems[1].evaluations, int(space.size()));
}

// Each waits in its first exchange until the other one has begun as well.
TEST_F(SetTest, SeveralEvaluatorsShareTheShapesAndEachPlanIsJudgedOnce) {
  FakeEvaluator other;
  judges.push_back(&other);
  std::atomic<int> begun = 0;
  for (FakeEvaluator* one : {&evaluator, &other})
    one->on_exchange = [&begun, is_first = true](std::span<const Candidate>) mutable {
      if (std::exchange(is_first, false)) ++begun;
      for (int i = 0; i < 6000 && begun < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    };
  std::vector<Gemm> problems;
  for (const Gemm& gemm : options.problems)
    for (const Layout layout : {kNn, kTn}) problems.push_back({gemm.shape, {.layout = layout}});
  options.problems = problems;
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(told_complete, problems.size());
  EXPECT_EQ(result->judged, int64_t(problems.size()) * kTrialsOfAProblem);
  EXPECT_EQ(int64_t(store.Trials().size()), result->judged);
  for (const ProblemResult& problem : result->problems) EXPECT_TRUE(problem.complete && problem.best);
  std::set<Shape> shapes, of_other;
  for (const EvaluationRequest& request : evaluator.requests) shapes.insert(request.gemm.shape);
  for (const EvaluationRequest& request : other.requests) of_other.insert(request.gemm.shape);
  EXPECT_EQ(shapes.size() + of_other.size(), size_t(kProblems)) << "a shape's layouts stay together";
}

}  // namespace
}  // namespace gemmsmith
