#include "campaign/campaign.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "campaign/compile_ahead.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, JudgesEveryPlanOnceStoresItAndNamesTheFastest) {
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->evaluations, int(space.size()));
  EXPECT_EQ(evaluator.requests.size(), space.size());
  EXPECT_EQ(store.Trials().size(), space.size());
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->plan(), Fastest());
  EXPECT_EQ(result->by_outcome,
            (std::vector<std::pair<OutcomeKind, int>>{{OutcomeKind::kMeasured, int(space.size())}}));
  EXPECT_NE(result->stop_reason.find("every plan"), std::string::npos);
}

TEST_F(CampaignTest, StoresWhoWasJudgedWhereWithWhat) {
  space = Space(SomePlans(1));
  ASSERT_TRUE(RunWhole().ok());
  const std::vector<Trial> trials = store.Trials();
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].gemm, options.problems[0]);
  EXPECT_EQ(trials[0].plan(), space.plans()[0]);
  EXPECT_EQ(trials[0].campaign, "test");
  EXPECT_EQ(trials[0].seed, 7u);
  EXPECT_EQ(trials[0].setting.toolchain, "fake compiler 1");
  EXPECT_EQ(trials[0].setting.device_key, SomeDevice().key);
  EXPECT_EQ(trials[0].outcome.compile_seconds, 0.25);
  EXPECT_GT(trials[0].unix_ms, 1'600'000'000'000);
}

TEST_F(CampaignTest, TellsOfEveryTrialWithTheBestSoFar) {
  double best_ns = INFINITY;
  int told = 0;
  on_event = [&](const CampaignEvent& event) {
    if (event.trial == nullptr) return;
    best_ns = std::min(best_ns, event.trial->outcome.TimeNs());
    ASSERT_NE(event.best, nullptr);
    EXPECT_EQ(event.best->outcome.TimeNs(), best_ns);
    EXPECT_EQ(event.evaluations, ++told);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(told, int(space.size()));
}

TEST_F(CampaignTest, WhatWasJudgedTogetherIsStoredBeforeTheNextExchangeStarts) {
  options.problems = {SomeGemm(512), SomeGemm(1024)};
  options.finalists = 2;
  evaluator.on_exchange = [this](std::span<const Candidate>) {
    EXPECT_EQ(store.Trials().size(), evaluator.requests.size());
  };
  ASSERT_TRUE(RunAll().ok());
  EXPECT_EQ(store.Trials().size(), evaluator.requests.size());
}

TEST_F(CampaignTest, AnExchangeIsOfOneProblemAndOneProtocolAndNoLongerThanAList) {
  options.problems = {SomeGemm(512), SomeGemm(1024), SomeGemm(4096)};
  options.finalists = 4;
  evaluator.on_exchange = [](std::span<const Candidate> candidates) {
    for (const Candidate& candidate : candidates) {
      EXPECT_EQ(candidate.request.gemm, candidates[0].request.gemm);
      EXPECT_EQ(candidate.request.protocol, candidates[0].request.protocol);
    }
    const bool screening = candidates[0].request.protocol == Protocol::kScreen;
    EXPECT_LE(candidates.size(), screening ? kListSize : 24);
  };
  ASSERT_TRUE(RunAll().ok());
}

// While one list is at the GPU others get ready: the next exchange takes them together.
TEST_F(CampaignTest, WhatIsReadyIsJudgedTogetherWithoutWaitingForMore) {
  evaluator.on_exchange = [this](std::span<const Candidate> candidates) {
    EXPECT_FALSE(candidates.empty());
    const int before = compiler.calls;
    for (int i = 0; i < 200 && compiler.calls == before; ++i) usleep(1000);
    usleep(20000);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_LE(evaluator.exchanges.size(), space.size() / 4) << "candidates were judged one by one";
}

TEST_F(CampaignTest, ASlowCompilationHoldsUpNobodyElse) {
  std::mutex mutex;
  std::condition_variable judged;
  size_t count = 0;
  bool held_up = true;
  const std::string slow = Emit(space.plans()[0], options.problems[0]).text;
  compiler.before = [&](const Source& source) {
    if (source.text != slow) return OkStatus();
    std::unique_lock lock(mutex);
    // Sources may coincide between plans, so that not every other plan can be waited for.
    held_up = !judged.wait_for(lock, std::chrono::seconds(20), [&] { return count >= space.size() / 2; });
    return OkStatus();
  };
  evaluator.judge = [&](const EvaluationRequest& request) {
    {
      const std::lock_guard lock(mutex);
      ++count;
    }
    judged.notify_all();
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_FALSE(held_up);
  EXPECT_EQ(count, space.size());
}

TEST_F(CampaignTest, StopsAtItsBudgetAndResumesToTheSameTotal) {
  const Result<ProblemResult> first = RunWith(store.archive.get(), 10);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->evaluations, 10);
  EXPECT_EQ(first->stop_reason, "budget of 10 evaluations used");
  const Result<ProblemResult> second = RunWith(store.archive.get(), 25);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->resumed, 10);
  EXPECT_EQ(second->evaluations, 15);
  const std::vector<Trial> trials = store.Trials();
  EXPECT_EQ(trials.size(), 25u);
  std::set<Plan> judged;
  for (const EvaluationRequest& request : evaluator.requests) EXPECT_TRUE(judged.insert(request.plan()).second);
  const Result<ProblemResult> third = RunWith(store.archive.get(), 25);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->evaluations, 0);
  ASSERT_TRUE(third->best && second->best);
  EXPECT_EQ(third->best->plan(), second->best->plan());
}

TEST_F(CampaignTest, WithoutAnArchiveNothingResumes) {
  EXPECT_EQ(RunWith(nullptr, 10)->evaluations, 10);
  EXPECT_EQ(RunWith(nullptr, 10)->resumed, 0);
}

TEST_F(CampaignTest, AnotherNameOrAnotherProblemDoesNotResume) {
  ASSERT_TRUE(RunWith(store.archive.get(), 10).ok());
  options.name = "other";
  EXPECT_EQ(RunWith(store.archive.get(), 10)->resumed, 0);
  options.name = "test";
  options.problems[0] = SomeGemm(1024);
  EXPECT_EQ(RunWith(store.archive.get(), 10)->resumed, 0);
}

TEST_F(CampaignTest, TrialsOfAnotherDeviceModelAreNotResumed) {
  ASSERT_TRUE(RunWith(store.archive.get(), 10).ok());
  Trial foreign = store.Trials().front();
  foreign.gemm = SomeGemm(1024);
  foreign.setting.device_key = "other";
  ASSERT_TRUE(store.archive->Add(foreign).ok());
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> refused = RunWith(store.archive.get(), 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("another device"), std::string::npos);
  EXPECT_EQ(evaluator.requests.size(), requests);
}

}  // namespace
}  // namespace gemmsmith
