#include "workflow/self_test_matrix.h"

#include <gtest/gtest.h>

#include <map>

namespace gemmsmith {
namespace {

Case MakeCase(std::string name, std::vector<OutcomeKind> expected, Shape shape = {64, 64, 64}) {
  Case made;
  made.kind = expected.empty() ? "honest" : "timing";
  made.subject = "what " + name + " does";
  made.expected = std::move(expected);
  made.gemm.shape = shape;
  made.text = name;
  made.name = std::move(name);
  return made;
}

Outcome Of(OutcomeKind kind, std::string stage = "", std::string test = "") {
  Outcome outcome;
  outcome.kind = kind;
  outcome.stage = std::move(stage);
  outcome.verdict.test = std::move(test);
  return outcome;
}

// Answers by the text of the source and the seed, and remembers what it was asked.
class FakeEvaluator : public Evaluator {
 public:
  const Device& device() const override { return device_; }
  Setting setting() const override { return {}; }
  Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate&) override {
    asked.push_back(request);
    if (!failure.ok()) return failure;
    const auto& [name, text] = std::get<FreeForm>(request.subject);
    const auto found = answers.find({text, request.seed});
    return found == answers.end() ? Of(OutcomeKind::kMeasured) : found->second;
  }

  std::map<std::pair<std::string, uint64_t>, Outcome> answers;
  std::vector<EvaluationRequest> asked;
  Status failure;

 private:
  Device device_ = *FindDevice("h200");
};

class SelfTestTest : public testing::Test {
 protected:
  std::vector<CaseReport> Run(const std::vector<Case>& cases) {
    Result<std::vector<CaseReport>> reports = TryRun(cases);
    EXPECT_TRUE(reports.ok()) << reports.status().message();
    return reports.ok() ? *std::move(reports) : std::vector<CaseReport>();
  }
  Result<std::vector<CaseReport>> TryRun(const std::vector<Case>& cases) {
    Evaluator* const evaluators[] = {&evaluator_};
    return RunSelfTest(
        cases, options_, evaluators, [&](const EvaluationRequest& request) { return prepare_(request); }, *stop_,
        [&](const Case&, std::optional<uint64_t>, int done, int steps) {
          EXPECT_EQ(done, told_++);
          steps_ = steps;
        });
  }
  void Answer(const std::string& name, std::vector<OutcomeKind> kinds) {
    for (size_t i = 0; i < kinds.size(); ++i) evaluator_.answers[{name, i + 1}] = Of(kinds[i]);
  }

  SelfTestOptions options_;
  std::unique_ptr<StopRule> stop_ = StopOnAny({});
  FakeEvaluator evaluator_;
  PrepareCandidate prepare_ = [](const EvaluationRequest&) { return PreparedCandidate{}; };
  int told_ = 0, steps_ = 0;
};

using enum OutcomeKind;

TEST_F(SelfTestTest, EveryVerdictFollowsFromAllSeedsTogether) {
  const std::vector<Case> cases = {
      MakeCase("caught", {kWrong, kCheated}), MakeCase("caught as something else", {kCheated}),
      MakeCase("missed once", {kWrong}),      MakeCase("honest", {}),
      MakeCase("refused once", {}),
  };
  Answer("caught", {kWrong, kCheated, kWrong});
  Answer("caught as something else", {kCheated, kLaunchFailed, kCheated});
  Answer("missed once", {kWrong, kMeasured, kWrong});
  Answer("honest", {kMeasured, kVerified, kMeasured});
  Answer("refused once", {kMeasured, kMeasured, kWrong});
  const std::vector<CaseReport> reports = Run(cases);
  ASSERT_EQ(reports.size(), cases.size());
  const CaseVerdict expected[] = {CaseVerdict::kAsExpected, CaseVerdict::kCaughtOtherwise, CaseVerdict::kMissed,
                                  CaseVerdict::kAsExpected, CaseVerdict::kFalseAlarm};
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(reports[i].tested, &cases[i]);
    EXPECT_EQ(reports[i].verdict, expected[i]) << cases[i].name;
    ASSERT_EQ(reports[i].seen.size(), 3u);
    EXPECT_EQ(reports[i].seen[2].seed, 3u);
  }
  const SelfTestCounts counts = Count(reports);
  EXPECT_EQ(counts.broken, 3);
  EXPECT_EQ(counts.caught, 1);
  EXPECT_EQ(counts.caught_otherwise, 1);
  EXPECT_EQ(counts.missed, 1);
  EXPECT_EQ(counts.honest, 2);
  EXPECT_EQ(counts.passed, 1);
  EXPECT_EQ(counts.false_alarms, 1);
  EXPECT_FALSE(counts.AllAsExpected());
  EXPECT_EQ(told_, steps_);
}

TEST_F(SelfTestTest, CandidatesAreJudgedAsUsersOnesAre) {
  options_.seeds = 1;
  Run({MakeCase("honest", {})});
  ASSERT_EQ(evaluator_.asked.size(), 1u);
  EXPECT_EQ(evaluator_.asked[0].protocol, Protocol::kShort);
  EXPECT_TRUE(evaluator_.asked[0].time);
  EXPECT_EQ(std::get<FreeForm>(evaluator_.asked[0].subject), (FreeForm{"honest.cu", "honest"}));
}

TEST_F(SelfTestTest, TheSameProblemAndSeedComeTogether) {
  options_.seeds = 2;
  Run({MakeCase("a", {}), MakeCase("b", {}, {128, 64, 64}), MakeCase("c", {})});
  std::string order;
  for (const EvaluationRequest& request : evaluator_.asked)
    order += std::get<FreeForm>(request.subject).text + std::to_string(request.seed) + " ";
  EXPECT_EQ(order, "a1 c1 a2 c2 b1 b2 ");
}

TEST_F(SelfTestTest, WhatShouldNotBeBuiltComesLast) {
  options_.seeds = 1;
  Run({MakeCase("a", {kCompileFailed, kCheated}), MakeCase("b", {kWrong})});
  ASSERT_EQ(evaluator_.asked.size(), 2u);
  EXPECT_EQ(std::get<FreeForm>(evaluator_.asked[0].subject).text, "b");
}

TEST_F(SelfTestTest, WhatIsRefusedBeforehandIsNeverRun) {
  prepare_ = [](const EvaluationRequest&) { return PreparedCandidate{.ended = Of(kCheated, "screening")}; };
  const std::vector<Case> cases = {MakeCase("imports fork", {kCheated}), MakeCase("honest", {})};
  const std::vector<CaseReport> reports = Run(cases);
  EXPECT_TRUE(evaluator_.asked.empty());
  EXPECT_EQ(reports[0].verdict, CaseVerdict::kAsExpected);
  EXPECT_EQ(CaughtBy(reports[0].seen[0].outcome), "screening");
  EXPECT_EQ(reports[1].verdict, CaseVerdict::kFalseAlarm);
}

TEST_F(SelfTestTest, WithoutCutlassItsCasesAreSkippedAndAllIsStillWell) {
  options_.has_cutlass = false;
  std::vector<Case> cases = {MakeCase("honest", {}), MakeCase("cute", {})};
  cases[1].needs_cutlass = true;
  const std::vector<CaseReport> reports = Run(cases);
  EXPECT_EQ(reports[1].verdict, CaseVerdict::kSkipped);
  EXPECT_EQ(evaluator_.asked.size(), 3u);
  EXPECT_EQ(Count(reports).skipped, 1);
  EXPECT_TRUE(Count(reports).AllAsExpected());
}

TEST_F(SelfTestTest, NothingJudgedIsNothingProved) {
  options_.has_cutlass = false;
  std::vector<Case> cases = {MakeCase("cute", {})};
  cases[0].needs_cutlass = true;
  EXPECT_FALSE(Count(Run(cases)).AllAsExpected());
}

TEST_F(SelfTestTest, AFailureOfTheWorldIsOneCasesAndThreeInARowAreTheEnd) {
  const std::vector<Case> cases = {MakeCase("a", {}), MakeCase("b", {}), MakeCase("c", {}), MakeCase("d", {})};
  prepare_ = [](const EvaluationRequest& request) -> Result<PreparedCandidate> {
    if (std::get<FreeForm>(request.subject).text == "b") return Unavailable("no compiler for b");
    return PreparedCandidate{};
  };
  const std::vector<CaseReport> reports = Run(cases);
  EXPECT_EQ(reports[1].verdict, CaseVerdict::kNotJudged);
  EXPECT_EQ(reports[1].why_not, "no compiler for b");
  EXPECT_EQ(reports[2].verdict, CaseVerdict::kAsExpected);
  EXPECT_EQ(Count(reports).not_judged, 1);
  EXPECT_FALSE(Count(reports).AllAsExpected());

  evaluator_.failure = IoError("the GPU is lost");
  told_ = 0;
  const Result<std::vector<CaseReport>> lost = TryRun(cases);
  ASSERT_FALSE(lost.ok());
  EXPECT_NE(lost.status().message().find("the last, d: the GPU is lost"), std::string::npos) << lost.status().message();
}

TEST_F(SelfTestTest, SeveralEvaluatorsShareProblemsAndSeeds) {
  std::vector<Case> cases;
  for (int i = 0; i < 12; ++i)
    cases.push_back(MakeCase("case " + std::to_string(i), {kWrong}, {64 * (1 + i / 3), 64, 64}));
  FakeEvaluator others[2];
  std::map<std::pair<std::string, uint64_t>, Outcome> answers;
  for (const Case& tested : cases)
    for (uint64_t seed = 1; seed <= 3; ++seed) answers[{tested.name, seed}] = Of(kWrong, std::to_string(seed));
  evaluator_.answers = others[0].answers = others[1].answers = answers;
  Evaluator* const evaluators[] = {&evaluator_, &others[0], &others[1]};
  const Result<std::vector<CaseReport>> reports =
      RunSelfTest(cases, options_, evaluators, prepare_, *stop_,
                  [&](const Case&, std::optional<uint64_t>, int done, int) { EXPECT_EQ(done, told_++); });
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  for (const CaseReport& report : *reports) {
    ASSERT_EQ(report.seen.size(), 3u);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      EXPECT_EQ(report.seen[seed - 1].seed, seed);
      EXPECT_EQ(report.seen[seed - 1].outcome.stage, std::to_string(seed)) << "the outcome of that seed";
    }
  }
  EXPECT_EQ(evaluator_.asked.size() + others[0].asked.size() + others[1].asked.size(), 36u);
}

TEST_F(SelfTestTest, WhoIsStoppedReportsWhatWasJudged) {
  const std::vector<Case> cases = {MakeCase("a", {}), MakeCase("b", {}, {128, 64, 64})};
  stop_ = StopWhen([this] { return evaluator_.asked.size() == 4; }, "enough");
  const std::vector<CaseReport> reports = Run(cases);
  EXPECT_EQ(reports[0].verdict, CaseVerdict::kAsExpected);
  EXPECT_EQ(reports[1].verdict, CaseVerdict::kNotJudged);
  EXPECT_EQ(reports[1].seen.size(), 1u);
  EXPECT_EQ(reports[1].why_not, "stopped before it was judged with all seeds");
  EXPECT_FALSE(Count(reports).AllAsExpected());
}

TEST_F(SelfTestTest, AReasonThatACaseNamesIsPartOfItsExpectation) {
  std::vector<Case> cases = {MakeCase("named", {kCompileFailed}), MakeCase("unnamed", {kCompileFailed})};
  for (Case& one : cases) one.says = "cudaMalloc";
  prepare_ = [](const EvaluationRequest& request) {
    PreparedCandidate prepared{.ended = Of(kCompileFailed, "compile")};
    const bool is_named = std::get<FreeForm>(request.subject).text == "named";
    prepared.ended->reason = is_named ? "undefined reference to `cudaMalloc'" : "error: no such file";
    return prepared;
  };
  const std::vector<CaseReport> reports = Run(cases);
  EXPECT_EQ(reports[0].verdict, CaseVerdict::kAsExpected);
  EXPECT_EQ(reports[1].verdict, CaseVerdict::kCaughtOtherwise);
}

TEST(CaughtBy, NamesTheStageAndTheTest) {
  EXPECT_EQ(CaughtBy(Of(kWrong, "correctness", "binary")), "correctness: binary");
  EXPECT_EQ(CaughtBy(Of(kCompileFailed, "compile")), "compile");
}

TEST(CaseVerdicts, HaveNamesOfTheirOwn) {
  for (int i = 0; i <= int(kLastCaseVerdict); ++i)
    for (int j = 0; j < i; ++j) EXPECT_NE(Name(CaseVerdict(i)), Name(CaseVerdict(j)));
}

}  // namespace
}  // namespace gemmsmith
