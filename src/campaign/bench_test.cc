#include "campaign/bench.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

std::vector<Gemm> InBothLayouts(std::initializer_list<int> ks) {
  std::vector<Gemm> problems;
  for (const int k : ks)
    for (const Layout& layout : {kNn, kTn}) problems.push_back({.shape = {64, 128, k}, .kind = {.layout = layout}});
  return problems;
}

class BenchTest : public ::testing::Test {
 protected:
  BenchTest() {
    options.name = "bench";
    options.problems = InBothLayouts({512, 1024});
    options.candidates = [this](const Gemm&) -> Result<std::vector<Subject>> { return ours; };
    options.seed = 3;
  }

  Result<MeasuredList> Run() {
    const std::unique_ptr<StopRule> stop = MakeStop();
    return RunBench(options, evaluator, &compiler, nullptr, *store.archive, *stop, on_event);
  }

  FakeEvaluator evaluator;
  FakeCompiler compiler;
  TemporaryArchive store;
  BenchOptions options;
  std::vector<Subject> ours;
  std::function<void(const MeasuredEvent&)> on_event = [](const MeasuredEvent&) {};
  std::function<std::unique_ptr<StopRule>()> MakeStop = [] { return StopOnAny({}); };
};

TEST_F(BenchTest, EveryShapeAndLayoutIsJudgedInOrderAndStored) {
  ours = {SomePlans(2)[0], SomePlans(2)[1]};
  options.baselines = *BaselineSet::Parse("lt_auto,torch");
  const Result<MeasuredList> result = Run();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->total, 8u);
  EXPECT_EQ(result->judged, 8u);
  EXPECT_TRUE(result->failures.empty());
  const std::vector<Trial> trials = store.Trials();
  ASSERT_EQ(trials.size(), 8u);
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].gemm, options.problems[i / 2]);
    EXPECT_EQ(trials[i].outcome.protocol, Protocol::kShort);
  }
  for (const EvaluationRequest& request : evaluator.requests) {
    EXPECT_EQ(request.baselines, options.baselines);
    EXPECT_EQ(request.seed, 3u);
  }
  EXPECT_TRUE(evaluator.races.empty());
}

TEST_F(BenchTest, AProblemIsJudgedInItsOwnLayoutOnly) {
  ours = {SomePlans(1)[0]};
  options.problems = {{.shape = {64, 128, 512}, .kind = {.layout = kNn, .type = ScalarType::kBf16}},
                      {.shape = {64, 128, 1024}, .kind = {.layout = kTn}}};
  ASSERT_TRUE(Run().ok());
  const std::vector<Trial> trials = store.Trials();
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].gemm, options.problems[0]);
  EXPECT_EQ(trials[1].gemm, options.problems[1]);
}

TEST_F(BenchTest, WithoutContendersTheBaselinesRaceOnceAShape) {
  const Result<MeasuredList> result = Run();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->judged, 2u);
  EXPECT_EQ(evaluator.races.size(), 2u);
  for (const Trial& trial : store.Trials()) EXPECT_EQ(trial.subject, TrialSubject(Nobody()));
  EXPECT_EQ(compiler.calls, 0);
}

TEST_F(BenchTest, WithoutContendersEachLayoutOfAColumnMajorAIsARaceBesideNnAndTn) {
  const Shape shape{64, 128, 512};
  options.problems.clear();
  for (const Layout& layout : kLayouts) options.problems.push_back({shape, {layout}});
  ASSERT_TRUE(Run().ok());
  std::vector<Layout> raced;
  for (const EvaluationRequest& race : evaluator.races) raced.push_back(race.gemm.kind.layout);
  EXPECT_EQ(raced, (std::vector{kTn, kColumnRow, kColumnColumn}));
}

TEST_F(BenchTest, ShapesWithoutAContenderAreRacedByTheBaselinesAlone) {
  options.candidates = [](const Gemm& gemm) -> Result<std::vector<Subject>> {
    if (gemm.shape.k == 512 && gemm.kind.layout == kNn) return std::vector<Subject>{SomePlans(1)[0]};
    return std::vector<Subject>();
  };
  ASSERT_TRUE(Run().ok());
  const std::vector<Trial> trials = store.Trials();
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_TRUE(trials[0].HasPlan());
  EXPECT_EQ(trials[1].subject, TrialSubject(Nobody()));
  EXPECT_EQ(trials[1].gemm.shape.k, 1024);
}

TEST_F(BenchTest, TheSameNameResumesWhereItWasStopped) {
  ours = {SomePlans(2)[0], SomePlans(2)[1]};
  MakeStop = [] { return StopAfterEvaluations(4); };
  const Result<MeasuredList> first = Run();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->judged, 4u);
  EXPECT_EQ(first->stop_reason, "budget of 4 evaluations used");
  MakeStop = [] { return StopOnAny({}); };
  const Result<MeasuredList> second = Run();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->found, 4u);
  EXPECT_EQ(second->judged, 4u);
  EXPECT_EQ(store.Trials().size(), 8u);
  const Result<MeasuredList> third = Run();
  EXPECT_EQ(third->judged, 0u);
  EXPECT_EQ(third->found, 8u);
}

TEST_F(BenchTest, AContenderThatComesLaterIsJudgedAlone) {
  ours = {SomePlans(3)[0]};
  ASSERT_TRUE(Run().ok());
  ours = {SomePlans(3)[0], SomePlans(3)[2]};
  const Result<MeasuredList> result = Run();
  EXPECT_EQ(result->found, 4u);
  EXPECT_EQ(result->judged, 4u);
}

TEST_F(BenchTest, OfAContenderThatIsNamedTwiceOneIsJudged) {
  ours = {SomePlans(1)[0], SomePlans(1)[0]};
  const Result<MeasuredList> result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->total, 4u);
  EXPECT_EQ(result->judged, 4u);
}

TEST_F(BenchTest, OtherClocksUnderTheSameNameAreRefused) {
  ASSERT_TRUE(Run().ok());
  options.clocks.Add(Clock::kServer);
  const Status status = Run().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("no server times"), std::string::npos) << status.message();
}

TEST_F(BenchTest, TrialsOfAnotherDeviceUnderTheSameNameAreRefused) {
  ASSERT_TRUE(Run().ok());
  Trial other = store.Trials()[0];
  other.setting.device_key = "h100";
  other.gemm.shape.k = 256;
  ASSERT_TRUE(store.archive->Add(other).ok());
  EXPECT_EQ(Run().status().message(), "the stored trials of 'bench' are of another device, h100: choose another name");
}

TEST_F(BenchTest, EveryRaceIsStoredBeforeTheNextStarts) {
  ours = {SomePlans(1)[0]};
  size_t judged = 0;
  evaluator.on_exchange = [&](std::span<const Candidate>) { EXPECT_EQ(store.Trials().size(), judged); };
  on_event = [&](const MeasuredEvent& event) {
    ++judged;
    EXPECT_EQ(event.done, judged);
    EXPECT_EQ(event.total, 4u);
    EXPECT_EQ(store.Trials().back().gemm, event.trial->gemm);
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(judged, 4u);
}

// Ends the process in the middle of a race, as kill -9 does.
TEST_F(BenchTest, AKilledRunLosesTheRaceUnderWayAndNoOther) {
  ours = {SomePlans(1)[0]};
  store.archive.reset();
  for (const size_t race : {1u, 3u, 4u}) {
    const pid_t child = fork();
    if (child == 0) {
      evaluator.exchanges.clear();
      evaluator.on_exchange = [&](std::span<const Candidate>) {
        if (evaluator.exchanges.size() == race) raise(SIGKILL);
      };
      options.name = fmt::format("killed {}", race);
      store.archive = *Archive::Open(store.path);
      (void)Run();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    store.archive = *Archive::Open(store.path);
    options.name = fmt::format("killed {}", race);
    const Result<MeasuredList> resumed = Run();
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    EXPECT_EQ(resumed->found, race - 1);
    EXPECT_EQ(resumed->judged, 4 - (race - 1));
    store.archive.reset();
  }
}

TEST_F(BenchTest, AFailingShapeIsPassedOverAndTwoInARowEndTheRun) {
  options.problems = InBothLayouts({512, 1024, 2048, 4096});
  std::vector<int> failing = {512, 2048};
  evaluator.race = [&, race = evaluator.race](const EvaluationRequest& request) -> Result<Outcome> {
    if (std::count(failing.begin(), failing.end(), request.gemm.shape.k) > 0) return IoError("no memory");
    return race(request);
  };
  const Result<MeasuredList> passed_over = Run();
  ASSERT_TRUE(passed_over.ok());
  EXPECT_EQ(passed_over->judged, 2u);
  ASSERT_EQ(passed_over->failures.size(), 2u);
  EXPECT_EQ(passed_over->failures[1].first.shape.k, 2048);
  failing = {512, 2048, 1024, 4096};
  options.name = "another";
  EXPECT_EQ(Run().status().message(), "no memory");
}

TEST_F(BenchTest, ACandidateThatFailsIsATrialLikeAnyOther) {
  ours = {SomePlans(1)[0]};
  evaluator.judge = [](const EvaluationRequest& request) {
    Outcome outcome;
    outcome.kind = OutcomeKind::kWrong;
    outcome.protocol = request.protocol;
    return outcome;
  };
  const Result<MeasuredList> result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->by_outcome, (std::vector<std::pair<OutcomeKind, int>>{{OutcomeKind::kWrong, 4}}));
  EXPECT_EQ(Run()->found, 4u);
}

}  // namespace
}  // namespace gemmsmith
