// What is done for the next problem while one is judged.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "campaign/compile_ahead.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

// The window of the compilers is larger than what one problem's budget fills.
TEST_F(SetTest, KernelsOfTheNextProblemsAreCompiledWhileOneIsJudged) {
  bool ahead = false;
  std::mutex mutex;
  std::set<std::string> compiled;
  compiler.before = [&](const Source& source) {
    const std::lock_guard lock(mutex);
    compiled.insert(source.text);
    return OkStatus();
  };
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    if (candidates[0].request.gemm != options.problems[0]) return;
    usleep(2000);
    const std::lock_guard lock(mutex);
    for (const Plan& plan : space.plans()) ahead |= compiled.contains(Emit(plan, options.problems[1]).text);
  };
  space = Space(PlansThatNameTheirShape());
  ASSERT_TRUE(RunSet().ok());
  EXPECT_TRUE(ahead);
}

// Counts how often it is asked by another thread than the one that judges.
class AskedMeanwhile : public Proposer {
 public:
  AskedMeanwhile(std::unique_ptr<Proposer> proposer, std::thread::id judge, std::atomic<int>& times)
      : proposer_(std::move(proposer)), judge_(judge), times_(times) {}
  std::string_view name() const override { return proposer_->name(); }
  std::vector<Plan> Propose(int count) override {
    times_ += std::this_thread::get_id() != judge_;
    return proposer_->Propose(count);
  }
  void Observe(const Plan& plan, const Outcome& outcome) override {
    EXPECT_EQ(std::this_thread::get_id(), judge_);
    proposer_->Observe(plan, outcome);
  }

 private:
  const std::unique_ptr<Proposer> proposer_;
  const std::thread::id judge_;
  std::atomic<int>& times_;
};

// The window of the compilers is full when an exchange begins, and what that takes from it leaves room.
TEST_F(SetTest, WhileOneProblemIsJudgedCandidatesOfTheNextAreProposed) {
  options.compile_threads = 1;
  const std::thread::id judge = std::this_thread::get_id();
  std::atomic<int> times = 0;
  evaluator.on_exchange = [](std::span<const Candidate>) { usleep(1000); };
  const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
    ProblemSearch search = SomeSearch(gemm, space, StopAfterEvaluations(kBudget));
    search.proposer = std::make_unique<AskedMeanwhile>(std::move(search.proposer), judge, times);
    return search;
  };
  const Result<CampaignResult> result =
      RunCampaign(options, make_search, judges, &compiler, nullptr, *StopOnAny({}), on_event);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_GT(times, 0);
  for (const ProblemResult& problem : result->problems) EXPECT_TRUE(problem.complete);
}

// No kernel of the second shape is ready before the first one's heat begins, and all are when it ends.
TEST_F(SetTest, FinalsLetTheLastListOfTheNextShapesScreeningGoFirstWhereItIsReady) {
  options.problems.resize(2);
  options.compile_threads = 80;  // those that wait hold up nobody
  space = Space(PlansThatNameTheirShape());
  std::set<std::string> of_second;
  for (const Plan& plan : space.plans()) of_second.insert(Emit(plan, options.problems[1]).text);
  std::atomic<bool> heat_has_begun = false;
  std::atomic<size_t> compiled_of_second = 0;
  compiler.before = [&](const Source& source) {
    if (!of_second.contains(source.text)) return OkStatus();
    for (int i = 0; i < 5000 && !heat_has_begun; ++i) usleep(1000);
    ++compiled_of_second;
    return OkStatus();
  };
  std::vector<std::pair<Gemm, Protocol>> order;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    order.emplace_back(candidates[0].request.gemm, candidates[0].request.protocol);
    if (order.back() != std::pair(options.problems[0], Protocol::kHeat)) return;
    heat_has_begun = true;
    for (int i = 0; i < 5000 && compiled_of_second < kListSize; ++i) usleep(1000);
    usleep(100'000);  // until they are handed over
  };
  const auto run = [&](int budget) {
    heat_has_begun = false;
    compiled_of_second = 0;
    order.clear();
    const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
      return SomeSearch(gemm, space, StopAfterEvaluations(budget));
    };
    ASSERT_TRUE(RunCampaign(options, make_search, judges, &compiler, nullptr, *StopOnAny({}), on_event).ok());
  };
  const auto place = [&](size_t problem, Protocol protocol) {
    return std::find(order.begin(), order.end(), std::pair(options.problems[problem], protocol)) - order.begin();
  };
  on_event = [](const CampaignEvent&) {};
  ASSERT_NO_FATAL_FAILURE(run(int(kListSize)));
  EXPECT_LT(place(1, Protocol::kScreen), place(0, Protocol::kShort));
  EXPECT_LT(place(0, Protocol::kShort), place(1, Protocol::kHeat));
  ASSERT_NO_FATAL_FAILURE(run(2 * int(kListSize)));
  EXPECT_LT(place(0, Protocol::kShort), place(1, Protocol::kScreen)) << "two lists are to come";
}

}  // namespace
}  // namespace gemmsmith
