#include "campaign/grid.h"

#include <gtest/gtest.h>

#include <set>

#include "campaign/compile_ahead.h"
#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

class GridTest : public testing::Test {
 protected:
  Result<MeasuredList> RunWith(std::unique_ptr<StopRule> stop) {
    return RunGrid(options, evaluator, &compiler, *store.archive, *stop,
                   [this](const MeasuredEvent& event) { events.push_back(event); });
  }
  Result<MeasuredList> RunWhole() { return RunWith(StopAfterEvaluations(1 << 20)); }
  size_t Cells() const { return options.problems.size() * options.plans.size(); }

  GridOptions options{.name = "grid",
                      .problems = {SomeGemm(512), SomeGemm(1024), SomeGemm(4096)},
                      .plans = SomePlans(15),
                      .compile_threads = 3,
                      .seed = 3};
  FakeCompiler compiler;
  FakeEvaluator evaluator;
  TemporaryArchive store;
  std::vector<MeasuredEvent> events;
};

TEST_F(GridTest, JudgesEveryCellOnceInListsOfOneProblem) {
  size_t stored = 0;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    EXPECT_LE(candidates.size(), kListSize);
    for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.request.gemm, candidates[0].request.gemm);
    EXPECT_EQ(store.Trials().size(), stored) << "the list before is not stored";
    stored += candidates.size();
  };
  const Result<MeasuredList> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->judged, Cells());
  EXPECT_EQ(result->found, 0u);
  EXPECT_EQ(result->stop_reason, "");
  std::set<std::pair<Gemm, Plan>> cells;
  for (const Trial& trial : store.Trials()) EXPECT_TRUE(cells.emplace(trial.gemm, trial.plan()).second);
  EXPECT_EQ(cells.size(), Cells());
  EXPECT_EQ(events.back().done, Cells());
  EXPECT_EQ(events.back().total, Cells());
}

TEST_F(GridTest, IllegalPlansAreTrialsThatNeverReachTheEvaluator) {
  const std::vector<Plan> legal_for_long_k = RankedPlans(SomeGemm(4096), SomeDevice(), kLiveSpaceSize);
  options.problems = {SomeGemm(4096), SomeGemm(16)};
  options.plans = {legal_for_long_k.front(), legal_for_long_k.back()};
  int illegal = 0;
  for (const Plan& plan : options.plans) illegal += !Check(plan, SomeGemm(16), SomeDevice()).empty();
  ASSERT_GT(illegal, 0);
  const Result<MeasuredList> result = RunWhole();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(store.Trials().size(), Cells());
  EXPECT_EQ(result->by_outcome.front(), std::pair(OutcomeKind::kIllegal, illegal));
  EXPECT_EQ(evaluator.requests.size(), Cells() - size_t(illegal));
}

TEST_F(GridTest, AStoppedGridGoesOnWhereItWas) {
  const Result<MeasuredList> first = RunWith(StopAfterEvaluations(20));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->judged, 20u);
  EXPECT_EQ(first->stop_reason, "budget of 20 evaluations used");
  const Result<MeasuredList> second = RunWhole();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->found, 20u);
  EXPECT_EQ(second->judged, Cells() - 20);
  EXPECT_EQ(store.Trials().size(), Cells());
  EXPECT_EQ(evaluator.requests.size(), Cells());
}

TEST_F(GridTest, SkipsWhatOtherCampaignsRecordedOnlyWhenAsked) {
  ASSERT_TRUE(RunWhole().ok());
  options.name = "another";
  options.skip_recorded = true;
  EXPECT_EQ(RunWhole()->found, Cells());
  options.protocol = Protocol::kShort;
  EXPECT_EQ(RunWhole()->found, 0u);
  options.name = "a third";
  options.skip_recorded = false;
  EXPECT_EQ(RunWhole()->judged, Cells());
}

TEST_F(GridTest, AFailingWorldEndsItAndKeepsWhatWasStored) {
  evaluator.judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    if (evaluator.requests.size() > 10) return IoError("the GPU is gone");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<MeasuredList> result = RunWhole();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "the GPU is gone");
  EXPECT_EQ(store.Trials().size(), 10u);
}

TEST_F(GridTest, AnEmptyGridIsDone) {
  options.plans.clear();
  EXPECT_EQ(RunWhole()->total, 0u);
  options.problems.clear();
  EXPECT_TRUE(RunWhole().ok());
}

TEST_F(GridTest, TheFastestOfEachProblemAreJudgedAgainOnceAlsoAfterAStop) {
  options.finalists = 2;
  ASSERT_TRUE(RunWith(StopAfterEvaluations(20)).ok());
  ASSERT_TRUE(RunWhole().ok());
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(store.Trials().size(), Cells() + 2 * options.problems.size());
  for (const Gemm& gemm : options.problems) {
    std::vector<double> screened, finals;
    for (const Trial& trial : store.Trials())
      if (trial.gemm == gemm)
        (trial.outcome.protocol == Protocol::kShort ? finals : screened).push_back(trial.outcome.TimeNs());
    std::sort(screened.begin(), screened.end());
    std::sort(finals.begin(), finals.end());
    EXPECT_EQ(finals, (std::vector<double>{screened[0], screened[1]})) << Print(gemm);
  }
}

TEST_F(GridTest, WhoIsStoppedBeforeTheLastFinalsIsNotComplete) {
  options.finalists = 2;
  options.compile_threads = 1;  // in order: else the last kernel that is ready may be one of the first problem
  const Result<MeasuredList> stopped = RunWith(StopAfterEvaluations(int(Cells())));
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->judged, Cells());
  EXPECT_EQ(stopped->stop_reason, "budget of 45 evaluations used");
  EXPECT_EQ(store.Trials().size(), Cells() + 2 * (options.problems.size() - 1));
  const Result<MeasuredList> rest = RunWhole();
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->stop_reason, "");
  EXPECT_EQ(store.Trials().size(), Cells() + 2 * options.problems.size());
  EXPECT_EQ(RunWith(StopAfterSeconds(0))->stop_reason, "") << "nothing is left";
}

TEST_F(GridTest, TrialsOfAnotherDeviceUnderTheSameNameAreRefused) {
  ASSERT_TRUE(RunWhole().ok());
  Trial other = store.Trials()[0];
  other.setting.device_key = "h100";
  other.subject = SubjectOf(SomePlans(16).back());
  ASSERT_TRUE(store.archive->Add(other).ok());
  EXPECT_EQ(RunWhole().status().message(),
            "the stored trials of 'grid' are of another device, h100: choose another name");
  options.name = "of its own";
  options.skip_recorded = true;
  EXPECT_EQ(RunWhole()->found, Cells());
}

TEST_F(GridTest, TheFinalistsOfAProblemMeetInOneRace) {
  options.finalists = 3;
  std::vector<size_t> races;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    if (candidates[0].request.protocol == Protocol::kShort) races.push_back(candidates.size());
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(races, std::vector<size_t>(options.problems.size(), 3));
}

TEST_F(GridTest, PassesProtocolAndClockOn) {
  options.protocol = Protocol::kShort;
  options.clocks.Add(Clock::kOffline);
  ASSERT_TRUE(RunWhole().ok());
  for (const EvaluationRequest& request : evaluator.requests) {
    EXPECT_EQ(request.protocol, Protocol::kShort);
    EXPECT_TRUE(request.clocks.Has(Clock::kOffline));
    EXPECT_EQ(request.seed, 3u);
    EXPECT_FALSE(request.brief);
  }
}

TEST_F(GridTest, AutoTuningIsChosenBrieflyWhereOnlyScreeningsComeAndWithCareWhereFinalsDo) {
  for (const int finalists : {0, 2}) {
    options.finalists = finalists;
    options.name = std::to_string(finalists);
    evaluator.requests.clear();
    ASSERT_TRUE(RunWhole().ok());
    ASSERT_FALSE(evaluator.requests.empty());
    for (const EvaluationRequest& request : evaluator.requests) EXPECT_EQ(request.brief, finalists == 0);
  }
}

}  // namespace
}  // namespace gemmsmith
