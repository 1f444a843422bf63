#include "evaluate/isolate/isolated_evaluator.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/random.h"

namespace gemmsmith {
namespace {

std::vector<std::string> FakeWorker(const std::string& start) { return {"/proc/self/exe", "fake_worker", start}; }

// Long enough for a loaded machine, short enough for a test.
constexpr WorkerLimits kLimits{
    .start_seconds = 20, .prepare_seconds = 20, .candidate_seconds = 0.7, .candidate_total_seconds = 1.5};

std::unique_ptr<IsolatedEvaluator> Start(const WorkerLimits& limits = kLimits) {
  Result<std::unique_ptr<IsolatedEvaluator>> evaluator =
      IsolatedEvaluator::Start(FakeWorker("well"), limits, std::nullopt);
  EXPECT_TRUE(evaluator.ok()) << evaluator.status().message();
  return *std::move(evaluator);
}

EvaluationRequest Request(uint64_t seed = 5) {
  EvaluationRequest request;
  request.gemm = {{16, 8, 16}, {kTn}};
  request.subject = DefaultPlan(FamilyId::kDirect);
  request.seed = seed;
  return request;
}

// A candidate that makes the fake worker act this way.
PreparedCandidate Acting(const std::string& act) {
  PreparedCandidate candidate;
  candidate.compilation.succeeded = true;
  candidate.compilation.binary.entry = act;
  candidate.compilation.binary.cubin = {1, 2, 3};
  candidate.compilation.binary.facts.registers = 40;
  candidate.compilation.seconds = 0.25;
  return candidate;
}

Outcome Judge(IsolatedEvaluator& evaluator, const std::string& act) {
  Result<Outcome> outcome = evaluator.Evaluate(Request(), Acting(act));
  EXPECT_TRUE(outcome.ok()) << act << ": " << outcome.status().message();
  return outcome.ok() ? *outcome : Outcome{};
}

void ExpectNextOneWorks(IsolatedEvaluator& evaluator) {
  const Outcome next = Judge(evaluator, "measure");
  ASSERT_EQ(next.kind, OutcomeKind::kMeasured) << next.reason;
  EXPECT_EQ(next.timings.at(0).median_ns, 16 * 8 * 16 + 5 + 3);
}

TEST(IsolatedEvaluator, HandsTheCandidateOverAndTheOutcomeBack) {
  const auto evaluator = Start();
  EXPECT_EQ(evaluator->device().key, "h200");
  EXPECT_EQ(evaluator->setting().gpu_uuid, "GPU-fake");
  const Outcome outcome = Judge(*evaluator, "measure");
  EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured);
  EXPECT_EQ(outcome.facts.registers, 40);
  EXPECT_EQ(outcome.compile_seconds, 0.25);
  EXPECT_GT(outcome.evaluate_seconds, 0);
}

TEST(IsolatedEvaluator, RacesTheBaselinesThatTheRequestNames) {
  const auto evaluator = Start();
  EvaluationRequest request = Request();
  request.baselines = *BaselineSet::Parse("default,torch_tn");
  request.protocol = Protocol::kLong;
  const Result<Outcome> outcome = evaluator->RaceBaselines(request);
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_EQ(outcome->kind, OutcomeKind::kMeasured);
  EXPECT_EQ(outcome->protocol, Protocol::kLong);
  ASSERT_EQ(outcome->timings.size(), 7u);
  EXPECT_EQ(outcome->timings.back().contender, "torch_tn");
  EXPECT_EQ(outcome->timings.back().median_ns, 1.0) << "the worker is told that no candidates come";
  ExpectNextOneWorks(*evaluator);
}

TEST(IsolatedEvaluator, ARaceOfBaselinesThatFailsIsAStatusAndCostsAtMostOneWorker) {
  const auto evaluator = Start();
  for (const uint64_t seed : {2001, 2002, 2003}) {
    EXPECT_FALSE(evaluator->RaceBaselines(Request(seed)).ok()) << seed;
    ExpectNextOneWorks(*evaluator);
  }
}

TEST(IsolatedEvaluator, OneWorkerServesManyRequests) {
  const auto evaluator = Start();
  const pid_t first = evaluator->worker_pid();
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Judge(*evaluator, "measure").kind, OutcomeKind::kMeasured);
  EXPECT_EQ(evaluator->worker_pid(), first);
}

TEST(IsolatedEvaluator, WhoVerifiedWithoutTimingTimesNothingAfterwards) {
  const auto evaluator = Start();
  EvaluationRequest untimed = Request();
  untimed.time = false;
  ASSERT_EQ(Judge(*evaluator, "measure").kind, OutcomeKind::kMeasured);
  const pid_t first = evaluator->worker_pid();
  for (int i = 0; i < 2; ++i) {
    const Result<Outcome> verified = evaluator->Evaluate(untimed, Acting("measure"));
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    EXPECT_EQ(evaluator->worker_pid(), first) << "it may verify on";
  }
  ExpectNextOneWorks(*evaluator);
  const pid_t second = evaluator->worker_pid();
  EXPECT_NE(second, first);
  ExpectNextOneWorks(*evaluator);
  EXPECT_EQ(evaluator->worker_pid(), second);
}

TEST(IsolatedEvaluator, WhoHasHadAProfilerInItTimesNoSingleCallsAfterwards) {
  const auto evaluator = Start();
  const pid_t first = evaluator->worker_pid();
  const auto judge_by = [&](const ClockSet& clocks, bool counters) {
    EvaluationRequest request = Request();
    request.clocks = clocks;
    request.counters = counters;
    const Result<Outcome> outcome = evaluator->Evaluate(request, Acting("measure"));
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return evaluator->worker_pid();
  };
  EXPECT_EQ(judge_by({Clock::kDevice, Clock::kOffline}, true), first) << "counters come behind the times";
  EXPECT_EQ(judge_by({Clock::kDevice}, true), first);
  EXPECT_EQ(judge_by({Clock::kDevice}, false), first) << "the device's own clock does not see it";
  pid_t last = first;
  for (const Clock clock : {Clock::kOffline, Clock::kServer, Clock::kHost}) {
    const pid_t next = judge_by({clock}, true);
    EXPECT_NE(next, last) << Name(clock);
    last = next;
  }
  const pid_t fresh = judge_by({Clock::kOffline}, false);
  EXPECT_NE(fresh, last);
  EXPECT_EQ(judge_by({Clock::kOffline}, false), fresh);
}

TEST(IsolatedEvaluator, AnEndedCandidateNeverReachesTheWorker) {
  const auto evaluator = Start();
  PreparedCandidate candidate;
  candidate.ended = Outcome{};
  candidate.ended->reason = "tile too large";
  const pid_t worker = evaluator->worker_pid();
  EXPECT_EQ(evaluator->Evaluate(Request(1002), candidate)->reason, "tile too large");
  EXPECT_EQ(evaluator->worker_pid(), worker);
}

TEST(IsolatedEvaluator, SourcesGoWithPlansAndAskForTheRing) {
  const auto evaluator = Start();
  PreparedCandidate source;
  source.compilation.succeeded = true;
  source.source.emplace().cubins = {{1, 2, 3, 4}};
  source.source->recipe.steps.assign(2, MemsetStep{{CallOperand::kC, 0}, 0, 16});
  EvaluationRequest request = Request();
  request.subject = FreeForm{"some.cu", "text"};
  const std::vector<Candidate> candidates = {
      {Request(), Acting("measure")}, {request, source}, {request, source}, {Request(), Acting("measure")}};
  const std::vector<Result<Outcome>> outcomes = evaluator->EvaluateTogether(candidates);
  for (const Result<Outcome>& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(outcome->kind, OutcomeKind::kMeasured);
  }
  EXPECT_EQ(outcomes[1]->TimeNs(), 2) << "the steps of its recipe";
}

struct Misdeed {
  const char* act;
  OutcomeKind kind;
  const char* reason;  // part of it
};

class Misbehaving : public testing::TestWithParam<Misdeed> {};

TEST_P(Misbehaving, CostsOneOutcomeAndTheNextRequestWorks) {
  const auto evaluator = Start();
  const Outcome outcome = Judge(*evaluator, GetParam().act);
  EXPECT_EQ(outcome.kind, GetParam().kind) << outcome.reason;
  EXPECT_NE(outcome.reason.find(GetParam().reason), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.facts.registers, 40);
  EXPECT_EQ(evaluator->worker_pid(), -1);
  ExpectNextOneWorks(*evaluator);
}

INSTANTIATE_TEST_SUITE_P(Worker, Misbehaving,
                         testing::Values(Misdeed{"hang", OutcomeKind::kTimedOut, "for 0.7 s in step 'first launch'"},
                                         Misdeed{"stop", OutcomeKind::kTimedOut, "first launch"},
                                         Misdeed{"half", OutcomeKind::kTimedOut, "first launch"},
                                         Misdeed{"too_late", OutcomeKind::kTimedOut, "for 0.7 s"},
                                         Misdeed{"busy_for_ever", OutcomeKind::kTimedOut, "for 1.5 s in step 'timing'"},
                                         Misdeed{"signal", OutcomeKind::kLaunchFailed, "signal 11"},
                                         Misdeed{"abort", OutcomeKind::kLaunchFailed, "CHECK failed: deliberately"},
                                         Misdeed{"exit", OutcomeKind::kLaunchFailed,
                                                 "exit code 7 in step 'first launch'; it said: leaving"},
                                         Misdeed{"close", OutcomeKind::kLaunchFailed, "first launch"},
                                         Misdeed{"truncated", OutcomeKind::kLaunchFailed, "exit code 0"},
                                         Misdeed{"garbage", OutcomeKind::kLaunchFailed, "not a frame"},
                                         Misdeed{"damaged", OutcomeKind::kLaunchFailed, "checksum"},
                                         Misdeed{"huge", OutcomeKind::kLaunchFailed, "over the limit"},
                                         Misdeed{"no_outcome", OutcomeKind::kLaunchFailed, "truncated judgements"},
                                         Misdeed{"wrong_turn", OutcomeKind::kLaunchFailed, "out of turn"},
                                         Misdeed{"lost", OutcomeKind::kLaunchFailed, "ILLEGAL_ADDRESS"}),
                         [](const testing::TestParamInfo<Misdeed>& misdeed) { return misdeed.param.act; });

TEST(IsolatedEvaluator, StepsThatAreAnnouncedHaveALimitEach) {
  const auto evaluator =
      Start({.start_seconds = 20, .prepare_seconds = 20, .candidate_seconds = 0.7, .candidate_total_seconds = 20});
  EXPECT_EQ(Judge(*evaluator, "late").kind, OutcomeKind::kMeasured);
}

TEST(IsolatedEvaluator, WhatALibraryPrintsSpoilsNothing) {
  const auto evaluator = Start();
  const pid_t worker = evaluator->worker_pid();
  for (const char* act : {"chatter", "flood", "chatter"})
    EXPECT_EQ(Judge(*evaluator, act).kind, OutcomeKind::kMeasured);
  EXPECT_EQ(evaluator->worker_pid(), worker);
}

TEST(IsolatedEvaluator, AFailingHarnessIsAStatusAndTheNextRequestWorks) {
  const auto evaluator = Start();
  const Result<Outcome> outcome = evaluator->Evaluate(Request(), Acting("fail"));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), StatusCode::kIoError);
  EXPECT_EQ(outcome.status().message(), "the harness failed");
  ExpectNextOneWorks(*evaluator);
}

TEST(IsolatedEvaluator, AProblemThatCannotBePreparedIsAStatusAndTheNextRequestWorks) {
  const auto evaluator =
      Start({.start_seconds = 20, .prepare_seconds = 0.3, .candidate_seconds = 1, .candidate_total_seconds = 2});
  const Result<Outcome> refused = evaluator->Evaluate(Request(1001), Acting("measure"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable);
  for (auto [seed, words] : {std::pair{1002, "exit code 9"}, {1003, "no sign of life"}, {1004, "out of turn"}}) {
    const Result<Outcome> failed = evaluator->Evaluate(Request(uint64_t(seed)), Acting("measure"));
    ASSERT_FALSE(failed.ok()) << seed;
    EXPECT_NE(failed.status().message().find(words), std::string::npos) << failed.status().message();
    ExpectNextOneWorks(*evaluator);
  }
}

TEST(IsolatedEvaluator, AWorkerThatDiedWhileIdleIsReplacedUnnoticed) {
  const auto evaluator = Start();
  const pid_t first = evaluator->worker_pid();
  ::kill(first, SIGKILL);
  ExpectNextOneWorks(*evaluator);
  EXPECT_NE(evaluator->worker_pid(), first);
}

// The full 200 moments run in the end-to-end test of the driver; these are the ones inside a request.
TEST(IsolatedEvaluator, SurvivesAKillOfItsWorkerAtAnyMoment) {
  const auto evaluator = Start();
  Random random(7);
  int killed = 0, measured = 0;
  for (int i = 0; i < 30; ++i) {
    ExpectNextOneWorks(*evaluator);
    const pid_t worker = evaluator->worker_pid();
    const auto delay = std::chrono::microseconds(random.Below(6000));
    std::thread killer([&] {
      std::this_thread::sleep_for(delay);
      ::kill(worker, SIGKILL);
    });
    const Outcome outcome = Judge(*evaluator, "slow");
    killer.join();
    killed += outcome.kind == OutcomeKind::kLaunchFailed;
    measured += outcome.kind == OutcomeKind::kMeasured;
    if (outcome.kind == OutcomeKind::kLaunchFailed) {
      EXPECT_NE(outcome.reason.find("signal 9"), std::string::npos) << outcome.reason;
    }
  }
  EXPECT_EQ(killed + measured, 30);
}

// ---- several candidates in one exchange

std::vector<Result<Outcome>> JudgeTogether(IsolatedEvaluator& evaluator, const std::vector<std::string>& acts,
                                           Protocol protocol = Protocol::kScreen) {
  std::vector<Candidate> candidates;
  for (const std::string& act : acts) candidates.push_back({Request(), Acting(act)});
  for (Candidate& candidate : candidates) candidate.request.protocol = protocol;
  return evaluator.EvaluateTogether(candidates);
}

// The kinds, in words.
std::vector<std::string> Kinds(const std::vector<Result<Outcome>>& outcomes) {
  std::vector<std::string> kinds;
  for (const Result<Outcome>& outcome : outcomes)
    kinds.emplace_back(outcome.ok() ? std::string(Name(outcome->kind)) : outcome.status().message());
  return kinds;
}

using Words = std::vector<std::string>;

TEST(JudgingTogether, AnswersEveryoneInOrderWithOneWorker) {
  const auto evaluator = Start();
  const pid_t worker = evaluator->worker_pid();
  const std::vector<Result<Outcome>> outcomes = JudgeTogether(*evaluator, Words(40, "measure"));
  EXPECT_EQ(Kinds(outcomes), Words(40, "measured"));
  for (const Result<Outcome>& outcome : outcomes) {
    EXPECT_EQ(outcome->facts.registers, 40);
    EXPECT_EQ(outcome->timings.at(0).median_ns, 16 * 8 * 16 + 5 + 3);
    EXPECT_GT(outcome->evaluate_seconds, 0);
  }
  EXPECT_EQ(evaluator->worker_pid(), worker);
  EXPECT_TRUE(JudgeTogether(*evaluator, {}).empty());
}

TEST(JudgingTogether, EndedCandidatesKeepTheirPlaces) {
  const auto evaluator = Start();
  std::vector<Candidate> candidates(3, {Request(), Acting("measure")});
  candidates[1].prepared.ended = Outcome{.reason = "tile too large"};
  EXPECT_EQ(Kinds(evaluator->EvaluateTogether(candidates)), (Words{"measured", "illegal", "measured"}));
}

// Every worker that they are sent to was prepared in all of their layouts.
TEST(JudgingTogether, CandidatesOfSeveralLayoutsAreJudgedInOneList) {
  const auto evaluator = Start();
  std::vector<Candidate> candidates;
  for (const auto& [layout, act] :
       {std::pair{kNn, "measure"}, {kTn, "measure"}, {kNn, "hang"}, {kTn, "unfit"}, {kNn, "measure"}}) {
    candidates.push_back({Request(), Acting(act)});
    candidates.back().request.gemm.kind.layout = layout;
  }
  EXPECT_EQ(Kinds(evaluator->EvaluateTogether(candidates)),
            (Words{"measured", "measured", "timed_out", "measured", "measured"}));
}

TEST(JudgingTogether, ACulpritThatIsKnownCostsItsOutcomeAndOneRestart) {
  for (auto [act, kind] : {std::pair{"hang", "timed_out"},
                           {"signal", "launch_failed"},
                           {"lost", "launch_failed"},
                           {"garbage", "launch_failed"}}) {
    const auto evaluator = Start();
    EXPECT_EQ(Kinds(JudgeTogether(*evaluator, {"measure", act, "measure", "measure"})),
              (Words{"measured", kind, "measured", "measured"}))
        << act;
    ExpectNextOneWorks(*evaluator);
  }
}

TEST(JudgingTogether, AProfilerCostsNobodyItsOutcome) {
  for (const char* act : {"exit_in_profiler", "hang_in_profiler"}) {
    const auto evaluator = Start();
    std::vector<Candidate> candidates(3, {Request(), Acting("measure")});
    for (Candidate& candidate : candidates) candidate.request.counters = true;
    candidates[1].prepared = Acting(act);
    const std::vector<Result<Outcome>> outcomes = evaluator->EvaluateTogether(candidates);
    EXPECT_EQ(Kinds(outcomes), (Words{"measured", "measured", "measured"})) << act;
    for (const Result<Outcome>& outcome : outcomes) {
      ASSERT_TRUE(outcome.ok() && outcome->counters);
      EXPECT_EQ(outcome->counters->observer, "");
      EXPECT_NE(outcome->counters->lacks.find("the worker "), std::string::npos) << outcome->counters->lacks;
    }
  }
}

TEST(IsolatedEvaluator, CountersComeWithTheOutcomeWhereTheyAreAskedFor) {
  const auto evaluator = Start();
  EXPECT_FALSE(Judge(*evaluator, "measure").counters);
  EvaluationRequest request = Request();
  request.counters = true;
  const Result<Outcome> outcome = evaluator->Evaluate(request, Acting("measure"));
  ASSERT_TRUE(outcome.ok() && outcome->counters);
  EXPECT_EQ(outcome->counters->observer, "cupti");
}

TEST(JudgingTogether, SeveralCulpritsAreFoundOneAfterTheOther) {
  const auto evaluator = Start();
  EXPECT_EQ(Kinds(JudgeTogether(*evaluator, {"signal", "measure", "lost", "exit", "measure", "signal"})),
            (Words{"launch_failed", "measured", "launch_failed", "launch_failed", "measured", "launch_failed"}));
}

TEST(JudgingTogether, WhereNobodyIsToBlameTheRestIsJudgedOneByOne) {
  for (auto [act, kind] : {std::pair{"exit_in_race", "launch_failed"},
                           {"hang_in_race", "timed_out"},
                           {"lost_in_race", "launch_failed"},
                           {"unfit", "measured"}}) {
    const auto evaluator = Start();
    EXPECT_EQ(Kinds(JudgeTogether(*evaluator, {"measure", act, "measure"})), (Words{"measured", kind, "measured"}))
        << act;
    ExpectNextOneWorks(*evaluator);
  }
}

TEST(JudgingTogether, WhoIsLeftUnansweredEvenAloneHasFailed) {
  for (const char* act : {"forgets", "lost_and_forgets"}) {
    const auto evaluator = Start();
    const std::vector<Result<Outcome>> outcomes = JudgeTogether(*evaluator, {"measure", act, "measure"});
    ASSERT_EQ(Kinds(outcomes), (Words{"measured", "launch_failed", "measured"})) << act;
    EXPECT_NE(outcomes[1]->reason.find("no outcome"), std::string::npos) << outcomes[1]->reason;
    ExpectNextOneWorks(*evaluator);
  }
}

TEST(JudgingTogether, AFailingWorldIsTheStatusOfAllThatHaveNoAnswer) {
  const auto evaluator = Start();
  Words acts(36, "measure");
  acts[33] = "fail";
  const std::vector<Result<Outcome>> outcomes = JudgeTogether(*evaluator, acts);
  for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].ok(), i < 32) << i;
  EXPECT_EQ(outcomes[35].status().message(), "the harness failed");
}

// The harness fails for the whole exchange: in a shorter exchange the first candidates would have their answers.
TEST(JudgingTogether, AHeatIsOneExchange) {
  const auto evaluator = Start();
  Words acts(32, "measure");
  acts[31] = "fail";
  for (const Result<Outcome>& outcome : JudgeTogether(*evaluator, acts, Protocol::kHeat)) EXPECT_FALSE(outcome.ok());
}

TEST(IsolatedEvaluator, SaysWhyNoWorkerStarts) {
  WorkerLimits limits = kLimits;
  limits.start_seconds = 5;
  const auto message = [&](const std::vector<std::string>& command) {
    return IsolatedEvaluator::Start(command, limits, std::nullopt).status().message();
  };
  EXPECT_NE(message(FakeWorker("exits")).find("exit code 5 in step 'start'; it said: no libcuda here"),
            std::string::npos)
      << message(FakeWorker("exits"));
  EXPECT_NE(message(FakeWorker("prints")).find("not a frame"), std::string::npos) << message(FakeWorker("prints"));
  EXPECT_NE(message({"/no/such/worker"}).find("/no/such/worker"), std::string::npos);
  EXPECT_EQ(message(FakeWorker("refuses")), "no driver");
  limits.start_seconds = 0.2;
  EXPECT_NE(message(FakeWorker("hangs")).find("no sign of life for 0.2 s"), std::string::npos);
}

TEST(IsolatedEvaluator, LeavesNoWorkerBehind) {
  pid_t worker = -1;
  {
    const auto evaluator = Start();
    worker = evaluator->worker_pid();
    ASSERT_EQ(::kill(worker, 0), 0);
  }
  EXPECT_NE(::kill(worker, 0), 0);
}

}  // namespace
}  // namespace gemmsmith
