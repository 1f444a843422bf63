// Candidates that fail, problems that cannot be judged, and environments that fail.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "campaign/campaign_fixture.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, FailedCandidatesAreTrialsLikeOthersButNeverBest) {
  const Plan fastest = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan() != fastest) return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
    Outcome outcome;
    outcome.kind = OutcomeKind::kTimedOut;
    outcome.protocol = request.protocol;
    return outcome;
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_NE(result->best->plan(), fastest);
  EXPECT_EQ(store.Trials().size(), space.size());
  EXPECT_EQ(result->by_outcome.front(), std::pair(OutcomeKind::kTimedOut, 1));
}

TEST_F(CampaignTest, ThereIsNoBestWhereNothingPassed) {
  evaluator.judge = [](const EvaluationRequest&) { return Outcome{.kind = OutcomeKind::kWrong}; };
  options.finalists = 4;
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->best);
}

TEST_F(CampaignTest, ACandidateThatDoesNotCompileNeverReachesTheEvaluator) {
  const std::string refused = Emit(space.plans()[3], options.problems[0]).text;
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
  used_compiler = &refusing;
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->by_outcome.front().first, OutcomeKind::kCompileFailed);
  EXPECT_EQ(int(evaluator.requests.size()) + result->by_outcome.front().second, int(space.size()));
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(CampaignTest, AFailingCompilerWorldEndsTheRun) {
  compiler.before = [](const Source&) { return Unavailable("no toolchain"); };
  const Result<ProblemResult> failed = RunWhole();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(evaluator.requests.empty());
}

TEST_F(CampaignTest, AFailingWorldEndsTheRunAndKeepsWhatWasStored) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (evaluator.requests.size() == 6) return IoError("the worker does not start");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> failed = RunWhole();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().message(), "the worker does not start");
  const size_t judged = evaluator.requests.size() - 1;
  EXPECT_EQ(store.Trials().size(), judged);
  const Result<ProblemResult> resumed = RunWhole();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->resumed, int(judged));
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(SetTest, AProblemInWhichNothingPassesIsCompleteAndStopsNobody) {
  evaluator.judge = [this](const EvaluationRequest& request) {
    if (request.gemm == options.problems[3]) return Outcome{.kind = OutcomeKind::kWrong};
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stop_reason, "");
  EXPECT_TRUE(result->problems[3].complete);
  EXPECT_FALSE(result->problems[3].best);
  EXPECT_TRUE(result->problems[4].best);
}

TEST_F(SetTest, AProblemThatCannotBeJudgedIsGivenUpAndStopsNobody) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.gemm == options.problems[3]) return Unavailable("no memory for it");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(told_complete, size_t(kProblems) - 1);
  for (size_t i = 0; i < result->problems.size(); ++i) EXPECT_EQ(result->problems[i].complete, i != 3);
  EXPECT_EQ(result->problems[3].failure.message(), "no memory for it");
}

TEST_F(SetTest, BothLayoutsOfAShapeThatCannotBeJudgedStopNobody) {
  options.problems[4] = options.problems[3];
  options.problems[4].kind.layout = kNn;
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.gemm.shape == options.problems[3].shape) return Unavailable("no memory for it");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t i = 0; i < result->problems.size(); ++i) {
    EXPECT_EQ(result->problems[i].complete, i != 3 && i != 4);
    EXPECT_EQ(result->problems[i].failure.ok(), i != 3 && i != 4);
  }
}

TEST_F(SetTest, AFailureOfTheLastProblemKeepsTheOthers) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.gemm == options.problems.back()) return Unavailable("no memory for it");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  for (const bool others_are_found : {false, true}) {
    const Result<CampaignResult> result = RunSet();
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(told_complete, size_t(kProblems) - 1);
    EXPECT_EQ(result->problems.front().found, others_are_found);
    EXPECT_EQ(result->problems.back().failure.message(), "no memory for it");
  }
}

TEST_F(SetTest, AWorldThatFailsBeforeAnythingIsCompleteIsAStatus) {
  evaluator.judge = [](const EvaluationRequest&) -> Result<Outcome> { return IoError("the GPU is gone"); };
  const Result<CampaignResult> result = RunSet();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "the GPU is gone");
}

TEST_F(SetTest, AWorldThatFailsForOneProblemAfterTheOtherEndsTheRun) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (evaluator.requests.size() > 100) return IoError("the GPU is gone");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << "some problems were complete";
  EXPECT_EQ(result->failure.code(), StatusCode::kIoError);
  EXPECT_EQ(result->stop_reason, "the GPU is gone");
  EXPECT_TRUE(result->problems.front().complete);
  EXPECT_FALSE(result->problems.back().complete);
  int measured = 0;
  for (const Trial& trial : store.Trials()) measured += trial.outcome.kind == OutcomeKind::kMeasured;
  EXPECT_EQ(measured, 100);
}

TEST_F(SetTest, WhereOneEvaluatorFailsTheOthersDoWhatItHadNotBegun) {
  FakeEvaluator broken;
  judges.push_back(&broken);
  std::atomic<bool> failed = false;
  broken.judge = [&](const EvaluationRequest&) -> Result<Outcome> {
    failed = true;
    return Unavailable("the GPU fell off the bus");
  };
  // Only the first exchange waits: a broken evaluator that is never asked fails this test within its time.
  evaluator.on_exchange = [&, waited = 0](std::span<const Candidate>) mutable {
    for (; waited < 6000 && !failed; ++waited) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  for (int i = kProblems; i < 5 * kProblems; ++i) options.problems.push_back(SomeGemm(512 * (i + 1)));
  const Result<CampaignResult> result = RunSet();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->failure.message(), "the GPU fell off the bus");
  size_t incomplete = 0;
  for (const ProblemResult& problem : result->problems) incomplete += !problem.complete;
  EXPECT_GE(incomplete, 1u);
  EXPECT_LE(incomplete, 10u) << "those that it had begun";
  judges.pop_back();
  const Result<CampaignResult> again = RunSet();
  ASSERT_TRUE(again.ok() && again->failure.ok());
  for (const ProblemResult& problem : again->problems) EXPECT_TRUE(problem.complete);
}

}  // namespace
}  // namespace gemmsmith
