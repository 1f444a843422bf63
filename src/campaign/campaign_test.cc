#include "campaign/campaign.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "campaign/fakes.h"
#include "campaign/interrupt.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

class CampaignTest : public testing::Test {
 protected:
  Result<CampaignResult> RunWith(Archive* archive, std::unique_ptr<StopRule> stop) {
    const std::unique_ptr<Proposer> proposer =
        *MakeProposer("random", {.gemm = options.gemm, .device = SomeDevice(), .space = &space, .seed = 7});
    return RunCampaign(options, *proposer, evaluator, with_compiler ? &compiler : nullptr, archive, *stop,
                       [this](const CampaignEvent& event) { on_event(event); });
  }
  Result<CampaignResult> RunWhole() { return RunWith(store.archive.get(), StopAfterEvaluations(1 << 20)); }

  Plan Fastest() const {
    return *std::min_element(space.plans().begin(), space.plans().end(),
                             [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  }

  Space space{SomePlans(40)};
  CampaignOptions options{.name = "test", .gemm = SomeGemm(), .finalists = 0, .compile_threads = 3, .seed = 7};
  bool with_compiler = true;
  FakeCompiler compiler;
  FakeEvaluator evaluator;
  TemporaryArchive store;
  std::function<void(const CampaignEvent&)> on_event = [](const CampaignEvent&) {};
};

TEST_F(CampaignTest, JudgesEveryPlanOnceStoresItAndNamesTheFastest) {
  const Result<CampaignResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->evaluations, int(space.size()));
  EXPECT_EQ(evaluator.requests.size(), space.size());
  EXPECT_EQ(store.Trials().size(), space.size());
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->plan, Fastest());
  EXPECT_EQ(result->by_outcome,
            (std::vector<std::pair<OutcomeKind, int>>{{OutcomeKind::kMeasured, int(space.size())}}));
  EXPECT_NE(result->stop_reason.find("every plan"), std::string::npos);
}

TEST_F(CampaignTest, StoresWhoWasJudgedWhereWithWhat) {
  space = Space(SomePlans(1));
  ASSERT_TRUE(RunWhole().ok());
  const std::vector<Trial> trials = store.Trials();
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].gemm, options.gemm);
  EXPECT_EQ(trials[0].plan, space.plans()[0]);
  EXPECT_EQ(trials[0].campaign, "test");
  EXPECT_EQ(trials[0].seed, 7u);
  EXPECT_EQ(trials[0].setting.toolchain, "fake compiler 1");
  EXPECT_EQ(trials[0].setting.device_key, SomeDevice().key);
  EXPECT_EQ(trials[0].outcome.compile_seconds, 0.25);
  EXPECT_GT(trials[0].unix_ms, 1'600'000'000'000);
}

TEST_F(CampaignTest, ATrialIsStoredBeforeTheNextEvaluationStarts) {
  evaluator.judge = [this](const EvaluationRequest& request) {
    EXPECT_EQ(store.Trials().size(), evaluator.requests.size() - 1);
    return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
}

TEST_F(CampaignTest, StopsAtItsBudgetAndResumesToTheSameTotal) {
  const Result<CampaignResult> first = RunWith(store.archive.get(), StopAfterEvaluations(10));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->evaluations, 10);
  EXPECT_EQ(first->stop_reason, "budget of 10 evaluations used");
  const Result<CampaignResult> second = RunWith(store.archive.get(), StopAfterEvaluations(25));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->resumed, 10);
  EXPECT_EQ(second->evaluations, 15);
  const std::vector<Trial> trials = store.Trials();
  EXPECT_EQ(trials.size(), 25u);
  std::set<Plan> judged;
  for (const EvaluationRequest& request : evaluator.requests) EXPECT_TRUE(judged.insert(request.plan).second);
  const Result<CampaignResult> third = RunWith(store.archive.get(), StopAfterEvaluations(25));
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->evaluations, 0);
  ASSERT_TRUE(third->best && second->best);
  EXPECT_EQ(third->best->plan, second->best->plan);
}

TEST_F(CampaignTest, AnotherNameOrAnotherProblemDoesNotResume) {
  ASSERT_TRUE(RunWith(store.archive.get(), StopAfterEvaluations(10)).ok());
  options.name = "other";
  EXPECT_EQ(RunWith(store.archive.get(), StopAfterEvaluations(10))->resumed, 0);
  options.name = "test";
  options.gemm = SomeGemm(1024);
  EXPECT_EQ(RunWith(store.archive.get(), StopAfterEvaluations(10))->resumed, 0);
}

TEST_F(CampaignTest, WithoutAnArchiveNothingResumes) {
  EXPECT_EQ(RunWith(nullptr, StopAfterEvaluations(10))->evaluations, 10);
  EXPECT_EQ(RunWith(nullptr, StopAfterEvaluations(10))->resumed, 0);
}

TEST_F(CampaignTest, FailedCandidatesAreTrialsLikeOthersButNeverBest) {
  const Plan fastest = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan != fastest) return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
    Outcome outcome;
    outcome.kind = OutcomeKind::kTimedOut;
    outcome.protocol = request.protocol;
    return outcome;
  };
  const Result<CampaignResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan, fastest);
  EXPECT_EQ(store.Trials().size(), space.size());
  EXPECT_EQ(result->by_outcome.front(), std::pair(OutcomeKind::kTimedOut, 1));
}

TEST_F(CampaignTest, ThereIsNoBestWhereNothingPassed) {
  evaluator.judge = [](const EvaluationRequest&) { return Outcome{.kind = OutcomeKind::kWrong}; };
  options.finalists = 4;
  const Result<CampaignResult> result = RunWhole();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->best);
}

TEST_F(CampaignTest, ACandidateThatDoesNotCompileNeverReachesTheEvaluator) {
  const std::string refused = Emit(space.plans()[3], options.gemm).text;
  class Refusing : public FakeCompiler {
   public:
    explicit Refusing(std::string text) : text_(std::move(text)) {}
    Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
      Result<Compilation> compilation = FakeCompiler::Compile(source, architecture);
      if (source.text == text_) compilation->succeeded = false;
      return compilation;
    }

   private:
    const std::string text_;
  } refusing(refused);
  const std::unique_ptr<Proposer> proposer = *MakeProposer("random", {.space = &space, .seed = 7});
  const std::unique_ptr<StopRule> stop = StopAfterEvaluations(1 << 20);
  const Result<CampaignResult> result =
      RunCampaign(options, *proposer, evaluator, &refusing, store.archive.get(), *stop, nullptr);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->by_outcome.front().first, OutcomeKind::kCompileFailed);
  EXPECT_EQ(int(evaluator.requests.size()) + result->by_outcome.front().second, int(space.size()));
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(CampaignTest, AFailingWorldEndsTheRunAndKeepsWhatWasStored) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (evaluator.requests.size() == 6) return IoError("the worker does not start");
    return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
  };
  const Result<CampaignResult> failed = RunWhole();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().message(), "the worker does not start");
  EXPECT_EQ(store.Trials().size(), 5u);
  const Result<CampaignResult> resumed = RunWhole();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->resumed, 5);
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(CampaignTest, AFailingCompilerWorldEndsTheRun) {
  compiler.before = [](const Source&) { return Unavailable("no toolchain"); };
  const Result<CampaignResult> failed = RunWhole();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(evaluator.requests.empty());
}

TEST_F(CampaignTest, MissesCostNoBudgetAndAreNotStored) {
  with_compiler = false;
  evaluator.judge = [](const EvaluationRequest& request) -> Result<Outcome> {
    if (HashBytes(Print(request.plan)).low % 2 == 0) return NotFound("no record");
    return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
  };
  const Result<CampaignResult> result = RunWith(store.archive.get(), StopAfterEvaluations(10));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->evaluations, 10);
  EXPECT_GT(result->misses, 0);
  EXPECT_EQ(int(evaluator.requests.size()), 10 + result->misses);
  EXPECT_EQ(store.Trials().size(), 10u);
}

TEST_F(CampaignTest, ASlowCompilationHoldsUpNobodyElse) {
  std::mutex mutex;
  std::condition_variable judged;
  size_t count = 0;
  bool held_up = true;
  const std::string slow = Emit(space.plans()[0], options.gemm).text;
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
    return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_FALSE(held_up);
  EXPECT_EQ(count, space.size());
}

TEST_F(CampaignTest, FinalistsAreJudgedAgainWithCareAndDecide) {
  options.finalists = 4;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    const bool slow_when_looked_at = request.plan == quick && request.protocol == Protocol::kShort;
    return MeasuredIn(slow_when_looked_at ? 1e9 : SomeTimeNs(request.plan), request.protocol);
  };
  const Result<CampaignResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan, quick);
  EXPECT_EQ(result->best->outcome.protocol, Protocol::kShort);
  int finals = 0;
  for (const EvaluationRequest& request : evaluator.requests) {
    EXPECT_EQ(request.offline_clock, request.protocol == Protocol::kShort);
    finals += request.protocol == Protocol::kShort;
  }
  EXPECT_EQ(finals, 4);
  EXPECT_EQ(store.Trials().size(), space.size() + 4);
}

TEST_F(CampaignTest, AFinalistThatFailsMakesRoomForTheNext) {
  options.finalists = 2;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan == quick && request.protocol == Protocol::kShort)
      return Outcome{.kind = OutcomeKind::kWrong, .protocol = Protocol::kShort};
    return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
  };
  const Result<CampaignResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan, quick);
  EXPECT_EQ(store.Trials().size(), space.size() + 3);
}

TEST_F(CampaignTest, FinalistsResume) {
  options.finalists = 4;
  const Result<CampaignResult> first = RunWhole();
  const size_t requests = evaluator.requests.size();
  const Result<CampaignResult> second = RunWhole();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(evaluator.requests.size(), requests);
  EXPECT_EQ(second->resumed, int(space.size()));
  EXPECT_EQ(second->best->plan, first->best->plan);
  EXPECT_EQ(second->best->outcome.protocol, Protocol::kShort);
}

TEST_F(CampaignTest, TellsOfEveryTrialWithTheBestSoFar) {
  double best_ns = INFINITY;
  int told = 0;
  on_event = [&](const CampaignEvent& event) {
    best_ns = std::min(best_ns, event.trial->outcome.TimeNs());
    ASSERT_NE(event.best, nullptr);
    EXPECT_EQ(event.best->outcome.TimeNs(), best_ns);
    EXPECT_EQ(event.evaluations, ++told);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(told, int(space.size()));
}

TEST_F(CampaignTest, SameSeedWithoutACompilerJudgesInTheSameOrder) {
  with_compiler = false;
  ASSERT_TRUE(RunWith(nullptr, StopAfterEvaluations(20)).ok());
  const std::vector<EvaluationRequest> first = std::exchange(evaluator.requests, {});
  ASSERT_TRUE(RunWith(nullptr, StopAfterEvaluations(20)).ok());
  ASSERT_EQ(first.size(), evaluator.requests.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].plan, evaluator.requests[i].plan);
}

TEST(StopRuleTest, EachStopsAtItsLimitAndSaysWhy) {
  EXPECT_FALSE(StopAfterEvaluations(3)->ShouldStop({.evaluations = 2}));
  EXPECT_EQ(StopAfterEvaluations(3)->ShouldStop({.evaluations = 3}), "budget of 3 evaluations used");
  EXPECT_FALSE(StopAfterSeconds(1.5)->ShouldStop({.seconds = 1.4}));
  EXPECT_EQ(StopAfterSeconds(1.5)->ShouldStop({.seconds = 1.5}), "budget of 1.5 s used");
  EXPECT_FALSE(StopWithoutImprovement(9)->ShouldStop({.evaluations = 100, .evaluations_since_best = 8}));
  EXPECT_EQ(StopWithoutImprovement(9)->ShouldStop({.evaluations_since_best = 9}), "no improvement in 9 evaluations");
}

TEST(StopRuleTest, AnyStopsWithTheFirstReason) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterSeconds(10));
  rules.push_back(StopAfterEvaluations(5));
  const std::unique_ptr<StopRule> any = StopOnAny(std::move(rules));
  EXPECT_FALSE(any->ShouldStop({.evaluations = 4, .seconds = 9}));
  EXPECT_EQ(any->ShouldStop({.evaluations = 5, .seconds = 9}), "budget of 5 evaluations used");
  EXPECT_EQ(any->ShouldStop({.evaluations = 5, .seconds = 10}), "budget of 10 s used");
}

// In a child: the flag stays for the life of a process.
class InterruptTest : public CampaignTest, public testing::WithParamInterface<int> {};

TEST_P(InterruptTest, ASignalStopsBetweenEvaluationsAndKeepsEverything) {
  const pid_t child = fork();
  if (child == 0) {
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (evaluator.requests.size() == 7) raise(GetParam());
      return MeasuredIn(SomeTimeNs(request.plan), request.protocol);
    };
    options.finalists = 4;
    const Result<CampaignResult> result = RunWith(store.archive.get(), StopOnInterrupt());
    const bool right = result.ok() && result->stop_reason == "interrupted" && result->evaluations == 7 &&
                       evaluator.requests.size() == 7 && result->best && InterruptArrived() &&
                       store.Trials().size() == 7;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(InterruptArrived());
}

TEST_P(InterruptTest, ASecondSignalEndsTheProgramAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    WatchForInterrupts();
    raise(GetParam());
    raise(GetParam());
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptTest, testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace gemmsmith
