#include "campaign/campaign.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "campaign/compile_ahead.h"
#include "campaign/fakes.h"
#include "campaign/interrupt.h"
#include "campaign/twins.h"
#include "campaign/wide_tiles.h"
#include "program/axes.h"
#include "program/cost.h"
#include "program/emit.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

class CampaignTest : public testing::Test {
 protected:
  // Every problem has the same space and the same budget.
  Result<CampaignResult> RunAll(Archive* archive, int budget, StopRule& stop) {
    const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
      ++searches_made;
      return SomeSearch(gemm, space, StopAfterEvaluations(budget));
    };
    return RunCampaign(options, make_search, judges, with_compiler ? used_compiler : nullptr, archive, stop,
                       [this](const CampaignEvent& event) { on_event(event); });
  }
  Result<CampaignResult> RunAll(int budget = 1 << 20) { return RunAll(store.archive.get(), budget, *StopOnAny({})); }
  // For the tests of a single problem.
  Result<ProblemResult> RunWith(Archive* archive, int budget) {
    Result<CampaignResult> result = RunAll(archive, budget, *StopOnAny({}));
    if (!result.ok()) return result.status();
    return std::move(result->problems.at(0));
  }
  Result<ProblemResult> RunWhole() { return RunWith(store.archive.get(), 1 << 20); }
  int CountTrials(Protocol protocol) const { return int(store.archive->Load({.protocol = protocol})->size()); }

  Plan Fastest() const {
    return *std::min_element(space.plans().begin(), space.plans().end(),
                             [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  }

  Space space{SomePlans(40)};
  CampaignOptions options{.name = "test", .problems = {SomeGemm()}, .finalists = 0, .compile_threads = 3, .seed = 7};
  bool with_compiler = true;
  FakeCompiler compiler;
  Compiler* used_compiler = &compiler;
  std::atomic<int> searches_made = 0;
  FakeEvaluator evaluator;
  std::vector<Evaluator*> judges = {&evaluator};
  TemporaryArchive store;
  std::function<void(const CampaignEvent&)> on_event = [](const CampaignEvent&) {};
};

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

TEST_F(CampaignTest, WhatWasJudgedTogetherIsStoredBeforeTheNextExchangeStarts) {
  options.problems = {SomeGemm(512), SomeGemm(1024)};
  options.finalists = 2;
  evaluator.on_exchange = [this](std::span<const Contender>) {
    EXPECT_EQ(store.Trials().size(), evaluator.requests.size());
  };
  ASSERT_TRUE(RunAll().ok());
  EXPECT_EQ(store.Trials().size(), evaluator.requests.size());
}

TEST_F(CampaignTest, AnExchangeIsOfOneProblemAndOneProtocolAndNoLongerThanAList) {
  options.problems = {SomeGemm(512), SomeGemm(1024), SomeGemm(4096)};
  options.finalists = 4;
  evaluator.on_exchange = [](std::span<const Contender> contenders) {
    for (const Contender& contender : contenders) {
      EXPECT_EQ(contender.request.gemm, contenders[0].request.gemm);
      EXPECT_EQ(contender.request.protocol, contenders[0].request.protocol);
    }
    const bool screening = contenders[0].request.protocol == Protocol::kScreen;
    EXPECT_LE(contenders.size(), screening ? kListSize : 24);
  };
  ASSERT_TRUE(RunAll().ok());
}

// While one list is at the GPU others get ready: the next exchange takes them together.
TEST_F(CampaignTest, WhatIsReadyIsJudgedTogetherWithoutWaitingForMore) {
  evaluator.on_exchange = [this](std::span<const Contender> contenders) {
    EXPECT_FALSE(contenders.empty());
    const int before = compiler.calls;
    for (int i = 0; i < 200 && compiler.calls == before; ++i) usleep(1000);
    usleep(20000);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_LE(evaluator.exchanges.size(), space.size() / 4) << "candidates were judged one by one";
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

TEST_F(CampaignTest, WithoutAnArchiveNothingResumes) {
  EXPECT_EQ(RunWith(nullptr, 10)->evaluations, 10);
  EXPECT_EQ(RunWith(nullptr, 10)->resumed, 0);
}

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

TEST_F(CampaignTest, AFailingCompilerWorldEndsTheRun) {
  compiler.before = [](const Source&) { return Unavailable("no toolchain"); };
  const Result<ProblemResult> failed = RunWhole();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(evaluator.requests.empty());
}

TEST_F(CampaignTest, MissesCostNoBudgetAndAreNotStored) {
  with_compiler = false;
  evaluator.judge = [](const EvaluationRequest& request) -> Result<Outcome> {
    if (HashBytes(Print(request.plan())).low % 2 == 0) return NotFound("no record");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWith(store.archive.get(), 10);
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
  EXPECT_EQ(store.Trials().size(), space.size() + options.heat_contenders + 4);
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

// So few were there at first that all of them went to the finals without a heat.
TEST_F(CampaignTest, FinalistsOfASmallBudgetGiveWayToFasterOnesOfALargerOne) {
  options.finalists = 2;
  options.heat_contenders = 10;
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

TEST_F(CampaignTest, TheFastestOfTheScreeningMeetInOneHeatAndItsFastestInOneFinal) {
  options.finalists = 4;
  options.heat_contenders = 10;
  std::vector<std::pair<Protocol, std::set<Plan>>> together;
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    if (contenders[0].request.protocol == Protocol::kScreen) return;
    together.emplace_back(contenders[0].request.protocol, std::set<Plan>());
    for (const Contender& contender : contenders) together.back().second.insert(contender.request.plan());
  };
  // The heat turns the order of the screening round.
  evaluator.judge = [](const EvaluationRequest& request) {
    const double time_ns = SomeTimeNs(request.plan());
    return MeasuredIn(request.protocol == Protocol::kHeat ? 1e9 / time_ns : time_ns, request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  ASSERT_EQ(together.size(), 2u);
  EXPECT_EQ(together[0], std::pair(Protocol::kHeat, std::set<Plan>(plans.begin(), plans.begin() + 10)));
  EXPECT_EQ(together[1], std::pair(Protocol::kShort, std::set<Plan>(plans.begin() + 6, plans.begin() + 10)));
  EXPECT_EQ(CountTrials(Protocol::kHeat), 10);
}

// As a heat at the power cap goes: everybody is fast in its first rounds, and who stays is measured when all are
// slower.
TEST_F(CampaignTest, WhoDropsOutOfAHeatIsNoFinalistHoweverFastItWasThere) {
  options.finalists = 4;
  options.heat_contenders = 10;
  std::set<Plan> finalists;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  const std::set<Plan> stayed(plans.begin() + 3, plans.begin() + 7);
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kShort) finalists.insert(request.plan());
    const bool stays = request.protocol == Protocol::kHeat && stayed.contains(request.plan());
    Outcome outcome = MeasuredIn((stays ? 1.1 : 1.0) * SomeTimeNs(request.plan()), request.protocol);
    outcome.timings[0].sample_count = stays ? 35 : 5;
    return outcome;
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(finalists, stayed);
}

TEST_F(CampaignTest, TheHeatOfLongCallsHasManyTilesAndNoTwinsAndTheirFinalsHaveThree) {
  options.finalists = 4;
  options.heat_contenders = 20;
  options.chained_twins = 2;
  options.fixed_twins = 4;
  const auto tile = [](const Plan& plan) { return std::pair(plan.Get("tile_m"), plan.Get("tile_n")); };
  std::vector<Plan> plans = RankedPlans(SomeGemm(), SomeDevice(), kLiveSpaceSize);
  std::erase_if(plans, [](const Plan& plan) { return plan.family != FamilyId::kDirect; });
  std::stable_sort(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) { return tile(a) < tile(b); });
  std::map<std::pair<int, int>, int> tiles;
  std::erase_if(plans, [&](const Plan& plan) { return ++tiles[tile(plan)] > 10; });
  ASSERT_GE(tiles.size(), 6u);
  space = Space(plans);
  std::map<Plan, double> times;  // those of one tile are next to each other
  for (const Plan& plan : plans) times[plan] = 400e3 + 100 * double(times.size());
  std::map<std::pair<int, int>, int> of_tile;
  size_t in_heat = 0, in_finals = 0;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) ++in_heat, ++of_tile[tile(request.plan())];
    if (request.protocol == Protocol::kShort) ++in_finals;
    EXPECT_TRUE(times.contains(request.plan())) << "a twin";
    EXPECT_EQ(request.baselines == *BaselineSet::Parse("lt_auto"), request.protocol == Protocol::kShort);
    return MeasuredIn(times[request.plan()], request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, 12u);
  EXPECT_EQ(in_finals, 3u);
  for (const auto& [one, count] : of_tile) EXPECT_LE(count, 2);
}

// What takes longest is left out: the heat, whose twins are compiled for it, and all but one of a layout in the finals.
TEST_F(CampaignTest, ABriefRunHasNoHeatOfLongCallsAndAsksForBriefRacesOnly) {
  options.brief = true;
  options.finalists = 2;
  options.heat_contenders = 4;
  for (const double call_ns : {400e3, 200e3}) {
    std::map<Protocol, int> judged;
    evaluator.judge = [&](const EvaluationRequest& request) {
      ++judged[request.protocol];
      EXPECT_TRUE(request.brief);
      EXPECT_EQ(request.baselines == *BaselineSet::Parse("lt_auto"), request.protocol == Protocol::kShort);
      return MeasuredIn(call_ns, request.protocol);
    };
    options.name = std::to_string(call_ns);
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(judged[Protocol::kHeat], call_ns > 300e3 ? 0 : 4);
    EXPECT_EQ(judged[Protocol::kShort], call_ns > 300e3 ? 1 : 2);
  }
}

// In turns with others a small tile looks faster than it will be.
TEST_F(CampaignTest, FinalistsOfLongCallsAreThoseThatAreExpectedToSettleFastest) {
  const Plan small = *ParsePlan("wgmma schedule=pingpong warpgroups=2 tile_m=128 tile_n=128 store=tma"),
             large = *ParsePlan(
                 "wgmma schedule=cooperative warpgroups=2 tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn");
  options.problems = {{{4096, 4096, 4096}, {kTn}}};
  options.brief = true;
  options.finalists = 1;
  options.heat_contenders = 0;
  space = Space({small, large});
  for (const auto& [length_ns, settles] : {std::pair(2000e3, true), {200e3, true}, {2000e3, false}}) {
    const double call_ns = length_ns;
    std::vector<Plan> in_finals;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kShort) in_finals.push_back(request.plan());
      return MeasuredIn(request.plan() == large ? 1.04 * call_ns : call_ns, request.protocol);
    };
    options.settles = settles;
    options.name = std::to_string(call_ns) + (settles ? "" : ", a replay");
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(in_finals, std::vector{settles && call_ns > 1e6 ? large : small}) << options.name;
  }
}

// Of windows it is read as it is; in turns, as heats were once, as the screening is: small tiles look faster than they
// will be.
TEST_F(CampaignTest, AHeatOfLongCallsIsReadByWhetherItsTimesAreOfWindows) {
  const Plan small = *ParsePlan("wgmma schedule=pingpong warpgroups=2 tile_m=128 tile_n=128 store=tma"),
             large = *ParsePlan(
                 "wgmma schedule=cooperative warpgroups=2 tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn");
  options.problems = {{{4096, 4096, 4096}, {kTn}}};
  options.finalists = 1;
  options.heat_contenders = 4;
  space = Space({small, large});
  options.settles = true;
  for (const bool of_windows : {true, false}) {
    std::vector<Plan> in_finals;
    // The heat turns the order of the screening round.
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kShort) in_finals.push_back(request.plan());
      const double ratio = request.protocol == Protocol::kHeat ? 1.02 : of_windows ? 0.9 : 1.2;
      Outcome outcome = MeasuredIn(request.plan() == large ? 2e6 * ratio : 2e6, request.protocol);
      outcome.conditions.is_settled = request.protocol == Protocol::kHeat && of_windows;
      return outcome;
    };
    options.name = of_windows ? "windows" : "turns";
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(in_finals, std::vector{of_windows ? small : large}) << options.name;
  }
}

class PlacedTwinsTest : public CampaignTest {
 protected:
  PlacedTwinsTest() {
    options.problems = {{{4096, 4096, 4096}, {kTn}}};
    options.finalists = 4;
    options.heat_contenders = 12;
    options.placed_twins = true;
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
      if (request.protocol == Protocol::kShort) in_finals.insert(request.plan());
      const auto time = times.find(request.plan());
      return MeasuredIn(time == times.end() ? 600e3 : time->second, request.protocol);
    };
  }
  static Plan Words(std::string_view words) { return *ParsePlan("wgmma store=tma " + std::string(words)); }
  static Plan BackAndForth(Plan plan) {
    plan.Set("walk", 1), plan.Set("store", int(Store::kBoxesFirstOut));
    return plan;
  }

  const Plan persistent = Words("schedule=pingpong raster=4 ctas=even"),
             near = Words("schedule=pingpong raster=8 place=near");
  std::map<Plan, double> times = {{persistent, 500e3}, {near, 480e3}};
  std::set<Plan> in_heat, in_finals;
};

TEST_F(PlacedTwinsTest, PersistentKernelsOfLongCallsAreRacedInBothPlaces) {
  std::vector<Plan> plans = {persistent};
  for (const char* tile : {"tile_n=64", "tile_n=96", "tile_n=128", "tile_n=192"}) plans.push_back(Words(tile));
  space = Space(plans);
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::set<Plan> expected(plans.begin(), plans.end());
  expected.insert(near);
  EXPECT_EQ(in_heat, expected) << "the others are not persistent";
  EXPECT_TRUE(in_finals.contains(near) && in_finals.contains(persistent));
  EXPECT_EQ(in_finals.size(), 3u);
  EXPECT_EQ(result->best->plan(), near);
  EXPECT_EQ(result->evaluations, int(plans.size())) << "twins are no evaluations";
  options.finished_after = int(plans.size());
  const size_t requests = evaluator.requests.size();
  const Result<ProblemResult> again = RunWhole();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->found) << "three finalists are all that long calls have";
  EXPECT_EQ(again->best->plan(), near);
  EXPECT_EQ(evaluator.requests.size(), requests);
}

TEST_F(PlacedTwinsTest, TheStandingKernelIsRacedInBothPlacesBeforeOthers) {
  const Plan standing = Words("schedule=pingpong tile_m=192 raster=16"), standing_near = [&] {
    Plan plan = standing;
    plan.Set("place", 1);
    return plan;
  }();
  std::vector<Plan> plans;
  for (const char* tile : {"tile_n=64", "tile_n=96", "tile_n=128", "tile_n=160", "tile_n=192"})
    plans.push_back(Words(std::string("schedule=pingpong ") + tile));
  space = Space(plans);
  options.heat_contenders = 4;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .settle = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_heat.contains(standing) && in_heat.contains(standing_near));
  EXPECT_EQ(in_heat.size(), 4u);
  EXPECT_TRUE(in_finals.contains(standing)) << "as slow as others, but it decides whether anything changes";
}

TEST_F(PlacedTwinsTest, LongCallsAreRacedWithSquareWavesToo) {
  options.placed_twins = false;
  options.settles_on = SomeDevice();
  const Plan columns = Words("schedule=pingpong raster=m"), square = Words("schedule=pingpong raster=8"),
             wide = Words("schedule=pingpong tile_n=192 raster=16"),
             narrow = Words("schedule=pingpong tile_n=64 raster=8");
  ASSERT_LT(WaveBytes(square, options.problems[0], SomeDevice()),
            0.7 * WaveBytes(columns, options.problems[0], SomeDevice()));
  space = Space({columns, wide, narrow});
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(in_heat, (std::set<Plan>{columns, square, wide, narrow})) << "two of them are square enough";
  EXPECT_EQ(result->evaluations, 3) << "twins are no evaluations";
}

TEST_F(PlacedTwinsTest, WhereKIsLargeLongCallsAreRacedWithWideTilesToo) {
  options.placed_twins = false;
  options.settles_on = SomeDevice();
  const std::set<Plan> screened = {Words("schedule=pingpong raster=8"), Words("schedule=pingpong tile_n=192 raster=16"),
                                   Words("schedule=pingpong tile_n=64 raster=8")};
  space = Space(std::vector<Plan>(screened.begin(), screened.end()));
  for (const int k : {4096, 8192}) {
    options.problems = {{{8192, 8192, k}, {kTn}}};
    options.name = std::to_string(k);
    in_heat.clear(), in_finals.clear();
    ASSERT_TRUE(RunWhole().ok());
    std::set<Plan> expected = screened;
    for (const Plan& plan : WideTiles(options.problems[0], SomeDevice(), 2)) expected.insert(plan);
    EXPECT_EQ(expected.size(), k == 8192 ? 5u : 3u);
    EXPECT_EQ(in_heat, k == 8192 ? expected : std::set<Plan>()) << "three alone reach the finals anyway";
    EXPECT_EQ(in_finals.size(), 3u);
  }
}

TEST_F(PlacedTwinsTest, WhereAllReachTheFinalsThereIsNoHeat) {
  space = Space(std::vector<Plan>{persistent});
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(in_heat.empty());
  EXPECT_EQ(in_finals, (std::set<Plan>{near, persistent}));
  EXPECT_EQ(result->best->plan(), near);
  EXPECT_EQ(result->evaluations, 1);
  in_finals.clear();
  const Result<ProblemResult> again = RunWhole();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(in_finals.empty());
  EXPECT_EQ(again->best->plan(), near);
  EXPECT_EQ(again->evaluations, 0);
  EXPECT_EQ(again->resumed, 1);
}

// A twin that no heat was needed for is no evaluation either, and the same again leaves nothing to do.
TEST_F(PlacedTwinsTest, WithSquareWavesToWhereAllReachTheFinalsThereIsNoHeatEither) {
  options.placed_twins = false;
  options.settles_on = SomeDevice();
  const Plan columns = Words("schedule=pingpong raster=m"), square = Words("schedule=pingpong raster=8");
  space = Space({columns});
  for (const Objective objective : {Objective::kTime, Objective::kEnergy}) {
    options.objective = objective;
    options.name = std::to_string(int(objective));
    in_finals.clear();
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(in_heat.empty());
    EXPECT_EQ(in_finals, (std::set<Plan>{BackAndForth(columns), BackAndForth(square)}));
    EXPECT_EQ(result->evaluations, 1);
    in_finals.clear();
    const Result<ProblemResult> again = RunWhole();
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(in_finals.empty());
    EXPECT_EQ(again->evaluations, 0);
    EXPECT_EQ(again->resumed, 1);
  }
}

TEST_F(PlacedTwinsTest, FinalistsOfLongCallsGoBackAndForthAndTheStandingKernelAsItIsToo) {
  options.placed_twins = false;
  options.settles_on = SomeDevice();
  const Plan standing = Words("schedule=pingpong tile_m=192 raster=8"), fastest = Words("schedule=pingpong raster=8"),
             one_tile = Words("tile_n=64");
  space = Space({fastest, one_tile, Words("schedule=pingpong tile_n=96 raster=8"),
                 Words("schedule=pingpong tile_n=64 raster=8"), Words("schedule=pingpong tile_n=192 raster=8")});
  times[fastest] = 400e3, times[standing] = 410e3, times[one_tile] = 420e3, times[BackAndForth(fastest)] = 390e3;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .settle = [](const Gemm&, std::span<const Trial>) { return OkStatus(); }};
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(in_heat.contains(fastest) && in_heat.contains(standing) && !in_heat.contains(BackAndForth(fastest)));
  EXPECT_EQ(in_finals, (std::set<Plan>{standing, BackAndForth(standing), BackAndForth(fastest), one_tile}));
  EXPECT_EQ(result->best->plan(), BackAndForth(fastest));
  in_finals.clear();
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_finals.empty());
}

TEST(BackAndForthTwin, LeavesLinesOfCFirstAndIsOfPersistentKernelsWhoseOperandsL2CannotHold) {
  const Gemm gemm{{4096, 4096, 4096}, {kTn}};
  const auto twin = [&](std::string_view words, const Gemm& of) {
    const std::optional<Plan> plan = BackAndForthTwin(*ParsePlan("wgmma " + std::string(words)), of, SomeDevice());
    return plan ? Print(*plan) : "";
  };
  EXPECT_EQ(twin("schedule=pingpong store=tma raster=8", gemm),
            Print(*ParsePlan("wgmma schedule=pingpong store=tma_first_out raster=8 walk=back_and_forth")));
  const Gemm odd_lines{{4096, 4100, 4096}, {kTn}};
  EXPECT_EQ(twin("schedule=pingpong store=rows raster=8", odd_lines),
            Print(*ParsePlan("wgmma schedule=pingpong store=rows raster=8 walk=back_and_forth")));
  EXPECT_EQ(twin("store=tma", gemm), "") << "one tile a CTA";
  EXPECT_EQ(twin("schedule=pingpong store=tma_first_out raster=8 walk=back_and_forth", gemm), "");
  EXPECT_EQ(twin("schedule=pingpong store=tma", {{2048, 2048, 1024}, {kTn}}), "") << "in L2";
}

// Lists of a screening are judged one after the other, on a GPU that becomes slower meanwhile.
TEST_F(CampaignTest, TheScreenedAreToldApartByWhatTheyTakeBesideAutoTuning) {
  options.finalists = 4;
  options.heat_contenders = 10;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  std::set<Plan> in_heat;
  double slower = 1;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    slower += 0.1;
    const double time_ns = SomeTimeNs(request.plan());
    Outcome outcome = MeasuredIn(slower * time_ns, request.protocol);
    outcome.comparisons = {{.baseline = "lt_auto_nn", .ratio = {.median = 3000 / time_ns}},
                           {.baseline = "lt_auto_tn", .ratio = {.median = 2000 / time_ns}}};
    return outcome;
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(in_heat, std::set<Plan>(plans.begin(), plans.begin() + 10));
}

// A plain call of a kernel without a trigger is as fast as one with; only chains tell.
TEST_F(CampaignTest, TheFastestBringTwinsWithOtherTriggersAndTheFastestInChainsIsAFinalist) {
  options.finalists = 4;
  options.heat_contenders = 6;
  options.chained_twins = 2;
  const Plan quick = Fastest();
  Plan soon = quick;
  soon.Set("trigger", int(Trigger::kSoon));
  std::map<Protocol, std::set<Plan>> judged;
  evaluator.judge = [&](const EvaluationRequest& request) {
    const Plan& plan = request.plan();
    judged[request.protocol].insert(plan);
    const Outcome outcome = MeasuredIn(plan.Get("trigger") == 0 ? SomeTimeNs(plan) : 500'000, request.protocol);
    if (plan.Get("trigger") == 0) return outcome;
    return InChains(outcome, plan == soon ? 400 : 600);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_EQ(result->best->plan(), quick);
  EXPECT_EQ(result->evaluations, int(space.size()));
  EXPECT_EQ(judged[Protocol::kHeat].size(), 6u + 2 * 3);
  EXPECT_EQ(judged[Protocol::kShort].size(), 4u);
  EXPECT_TRUE(judged[Protocol::kShort].contains(soon));
  // Nothing is judged again.
  const size_t requests = evaluator.requests.size();
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_EQ(evaluator.requests.size(), requests);
}

// The screened kernels are shared by many shapes.
TEST_F(CampaignTest, TheFastestBringTwinsWithAllDimensionsKnown) {
  options.finalists = 2;
  options.heat_contenders = 3;
  options.fixed_twins = 2;
  std::vector<Plan> plans = space.plans();
  std::erase_if(plans, [](const Plan& plan) { return plan.Get("fixed") != int(FixedDimensions::kNone); });
  ASSERT_GT(plans.size(), 4u);
  space = Space(plans);
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  Plan twin = plans[1];
  twin.Set("fixed", int(FixedDimensions::kAll));
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return MeasuredIn(request.plan() == twin ? 1 : SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_EQ(result->best->plan(), twin);
  EXPECT_EQ(in_heat.size(), 3u + 2);
  EXPECT_EQ(result->evaluations, int(space.size())) << "a twin is no evaluation";
}

// The screened kernels may be chained.
TEST_F(CampaignTest, TheFastestOfShortCallsBringTwinsWithoutATrigger) {
  options.finalists = 2;
  options.heat_contenders = 3;
  options.fixed_twins = 2;
  for (const bool are_short : {true, false}) {
    options.name = are_short ? "short" : "long";
    std::vector<Plan> plans = space.plans();
    for (Plan& plan : plans) plan.Set("fixed", int(FixedDimensions::kAll)), plan.Set("trigger", int(Trigger::kLate));
    std::sort(plans.begin(), plans.end());
    plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
    ASSERT_GT(plans.size(), 4u);
    space = Space(plans);
    int without = 0;
    evaluator.judge = [&](const EvaluationRequest& request) {
      const bool has_none = request.plan().Get("trigger") == int(Trigger::kNone);
      without += has_none && request.protocol == Protocol::kHeat;
      const double share = SomeTimeNs(request.plan()) / 1e6;  // below one
      return MeasuredIn((are_short ? 4000 : 6000) + share - 100 * has_none, request.protocol);
    };
    const Result<ProblemResult> result = RunWhole();
    ASSERT_TRUE(result.ok() && result->best);
    EXPECT_EQ(without, are_short ? 2 : 0);
    EXPECT_EQ(result->best->plan().Get("trigger"), int(are_short ? Trigger::kNone : Trigger::kLate));
  }
}

TEST_F(CampaignTest, TheFastestInChainsJoinsTheHeatHoweverSlowAPlainCallWas) {
  options.finalists = 4;
  options.heat_contenders = 6;
  options.chained_twins = 1;
  std::vector<Plan> plans = space.plans();
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  const Plan slow = plans.back();
  std::set<Plan> in_heat;
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
    return InChains(MeasuredIn(SomeTimeNs(request.plan()), request.protocol), request.plan() == slow ? 400 : 600);
  };
  ASSERT_TRUE(RunWhole().ok());
  EXPECT_TRUE(in_heat.contains(slow));
  EXPECT_EQ(in_heat.size(), 6u + 1 + 3);
}

TEST_F(CampaignTest, SplitsThatFillAMultiprocessorBringTheSameWithAShortRing) {
  options.problems = {{{512, 512, 4096}, {kTn}}};
  options.finalists = 2;
  options.heat_contenders = 2;
  options.chained_twins = 1;
  options.room_for_next_bytes = SomeDevice().RoomForTwoBytes();
  const auto plan = [](int stages, int split) {
    return *ParsePlan(fmt::format(
        "wgmma tile_m=64 tile_n=128 warpgroups=1 stages={} split={} reduction=add trigger=late", stages, split));
  };
  for (const int split : {1, 4}) {
    options.name = fmt::format("split {}", split);
    space = Space({plan(7, split), plan(6, split), plan(2, split)});
    std::set<Plan> in_heat;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat) in_heat.insert(request.plan());
      const double time_ns = 1000 - request.plan().Get("stages");
      return InChains(MeasuredIn(time_ns, request.protocol),
                      2000 - time_ns);  // the shortest ring is the fastest in chains
    };
    ASSERT_TRUE(RunWhole().ok());
    std::map<Trigger, std::set<int>> rings;
    for (const Plan& one : in_heat) rings[Trigger(one.Get("trigger"))].insert(one.Get("stages"));
    const auto fits = [&](int stages) {
      return LaunchFor(plan(stages, split), options.problems[0]).smem_bytes <= options.room_for_next_bytes;
    };
    EXPECT_TRUE(fits(3) && !fits(4));
    EXPECT_EQ(rings[Trigger::kLate], (split == 4 ? std::set{2, 3, 6, 7} : std::set{2, 6, 7}));
    for (const Trigger trigger : {Trigger::kEarly, Trigger::kSoon})
      EXPECT_EQ(rings[trigger], std::set{2}) << "one that is short enough is not made shorter";
  }
}

// What it gains between launches is less than 5 % of a call.
TEST_F(CampaignTest, WhoeverGainsLittleInChainsIsRacedThereAsOneThatEndsFirst) {
  options.finalists = 2;
  options.heat_contenders = 4;
  options.chained_twins = 1;
  options.fixed_twins = 3;
  for (const auto& [call_ns, chained_over_plain, twins] :
       {std::tuple(10e3, 0.9, 0u), {10e3, 0.99, 2u}, {10e3, 1.1, 2u}, {2e3, 0.99, 0u}}) {
    options.name = fmt::format("{} {}", call_ns, chained_over_plain);
    const double share = chained_over_plain, shortest_ns = call_ns;
    std::set<Plan> last_in_heat;
    evaluator.judge = [&](const EvaluationRequest& request) {
      if (request.protocol == Protocol::kHeat && request.plan().Get("trigger") == int(Trigger::kLast))
        last_in_heat.insert(request.plan());
      const Outcome outcome = MeasuredIn(shortest_ns + SomeTimeNs(request.plan()) / 1e3, request.protocol);
      return InChains(outcome, outcome.TimeNs() * share);
    };
    ASSERT_TRUE(RunWhole().ok());
    EXPECT_EQ(last_in_heat.size(), twins) << options.name;
    for (const Plan& plan : last_in_heat) EXPECT_EQ(plan.Get("fixed"), int(FixedDimensions::kAll));
  }
}

TEST_F(CampaignTest, OneThatTheHeatRefusesIsNoFinalist) {
  options.finalists = 2;
  const Plan quick = Fastest();
  evaluator.judge = [&](const EvaluationRequest& request) {
    if (request.plan() == quick && request.protocol == Protocol::kHeat)
      return Outcome{.kind = OutcomeKind::kTimedOut, .protocol = Protocol::kHeat};
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  ASSERT_TRUE(RunWhole().ok());
  for (const Trial& trial : store.Trials()) {
    EXPECT_FALSE(trial.plan() == quick && trial.outcome.protocol == Protocol::kShort);
  }
  EXPECT_EQ(CountTrials(Protocol::kShort), 2);
}

// A recording that holds the screening of every plan, and nothing more careful.
TEST_F(CampaignTest, StagesThatARecordLacksAreLeftOutAndTheScreeningDecides) {
  with_compiler = false;
  options.finalists = 4;
  evaluator.judge = [](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.protocol != Protocol::kScreen) return NotFound("no record");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_TRUE(result->complete);
  EXPECT_EQ(result->best->plan(), Fastest());
  EXPECT_EQ(result->best->outcome.protocol, Protocol::kScreen);
  EXPECT_EQ(result->misses, 0) << "only proposals without a record are";
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(CampaignTest, AMoreCarefulAnswerThanAskedForCountsForWhatItIs) {
  with_compiler = false;
  options.finalists = 4;
  evaluator.judge = [](const EvaluationRequest& request) {
    return MeasuredIn(SomeTimeNs(request.plan()), Protocol::kShort);
  };
  const Result<ProblemResult> first = RunWith(store.archive.get(), 30);
  ASSERT_TRUE(first.ok() && first->best);
  EXPECT_EQ(first->evaluations, 30);
  EXPECT_EQ(CountTrials(Protocol::kShort), 30);
  const Result<ProblemResult> second = RunWith(store.archive.get(), 30);
  EXPECT_EQ(second->resumed, 30);
  EXPECT_EQ(second->evaluations, 0);
  EXPECT_EQ(second->best->plan(), first->best->plan());
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

TEST_F(CampaignTest, TheStandingKernelJoinsHeatAndFinalsWhichAreSettledWithItOncePerRun) {
  const Plan standing = space.plans().back();
  space = Space(std::vector<Plan>(space.plans().begin(), space.plans().end() - 1));
  options.finalists = 4;
  options.finished_after = 1;
  std::vector<std::vector<Trial>> settled;
  options.standing = {.find = [&](const Gemm&) { return std::optional(standing); },
                      .settle =
                          [&](const Gemm& gemm, std::span<const Trial> finals) {
                            EXPECT_EQ(gemm, SomeGemm());
                            settled.emplace_back(finals.begin(), finals.end());
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
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_TRUE(std::any_of(settled[0].begin(), settled[0].end(), [&](const Trial& t) { return t.plan() == standing; }));
  for (const Trial& trial : settled[0]) EXPECT_EQ(trial.outcome.protocol, Protocol::kShort);
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
  ASSERT_EQ(settled.size(), 2u);
  EXPECT_EQ(settled[0].size(), settled[1].size());
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

TEST_F(CampaignTest, SameSeedWithoutACompilerJudgesInTheSameOrder) {
  with_compiler = false;
  ASSERT_TRUE(RunWith(nullptr, 20).ok());
  const std::vector<EvaluationRequest> first = std::exchange(evaluator.requests, {});
  ASSERT_TRUE(RunWith(nullptr, 20).ok());
  ASSERT_EQ(first.size(), evaluator.requests.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].subject, evaluator.requests[i].subject);
}

class SetTest : public CampaignTest {
 protected:
  SetTest() {
    options.problems.clear();
    for (int i = 0; i < kProblems; ++i) options.problems.push_back(SomeGemm(512 * (i + 1)));
    options.finalists = 2;
    options.heat_contenders = 6;
    options.finished_after = kBudget;
    on_event = [this](const CampaignEvent& event) {
      if (event.complete == nullptr) return;
      EXPECT_EQ(event.problems_complete, ++told_complete);
      EXPECT_EQ(event.complete->gemm, options.problems[event.problem]);
    };
  }
  Result<CampaignResult> RunSet(StopRule& stop) {
    told_complete = 0;
    return RunAll(store.archive.get(), kBudget, stop);
  }
  Result<CampaignResult> RunSet() { return RunSet(*StopOnAny({})); }
  // So that it shows for which problem a text is compiled.
  std::vector<Plan> PlansThatNameTheirShape() const {
    std::vector<Plan> plans = RankedPlans(options.problems[0], SomeDevice(), kLiveSpaceSize);
    std::erase_if(plans, [&](const Plan& plan) {
      return Emit(plan, options.problems[0]).text == Emit(plan, options.problems[1]).text;
    });
    EXPECT_GE(plans.size(), 40u);
    plans.resize(std::min<size_t>(plans.size(), 40));
    return plans;
  }

  static constexpr int kProblems = 12, kBudget = 20;
  static constexpr int kTrialsOfAProblem = kBudget + 6 + 2;
  size_t told_complete = 0;
};

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

// Each waits in its first exchange until the other one has begun as well.
TEST_F(SetTest, SeveralEvaluatorsShareTheShapesAndEachPlanIsJudgedOnce) {
  FakeEvaluator other;
  judges.push_back(&other);
  std::atomic<int> begun = 0;
  for (FakeEvaluator* one : {&evaluator, &other})
    one->on_exchange = [&begun, is_first = true](std::span<const Contender>) mutable {
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

TEST_F(SetTest, WhereOneEvaluatorFailsTheOthersDoWhatItHadNotBegun) {
  FakeEvaluator broken;
  judges.push_back(&broken);
  std::atomic<bool> failed = false;
  broken.judge = [&](const EvaluationRequest&) -> Result<Outcome> {
    failed = true;
    return Unavailable("the GPU fell off the bus");
  };
  evaluator.on_exchange = [&](std::span<const Contender>) {
    for (int i = 0; i < 6000 && !failed; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
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
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    if (contenders[0].request.gemm == options.problems[1])
      second_began = true;
    else if (contenders[0].request.protocol == Protocol::kScreen)
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

// Twins are compiled for their heat alone; here those of the first problem are not, before the second one is screened.
class WaitingHeatTest : public SetTest {
 protected:
  void SearchWithTwinsThatWait() {
    options.finished_after.reset();
    options.finalists = 2;
    options.fixed_twins = 2;
    std::vector<Plan> plans = RankedPlans(options.problems[0], SomeDevice(), kLiveSpaceSize);
    std::erase_if(plans, [&](const Plan& plan) {
      return !IsLegal(plan, options.problems[1], SomeDevice()) || plan.Get("fixed") != int(FixedDimensions::kNone);
    });
    ASSERT_GE(plans.size(), 8u);
    plans.resize(8);
    space = Space(plans);
    for (Plan plan : plans) {
      plan.Set("fixed", int(FixedDimensions::kAll));
      of_twins_.insert(Emit(plan, options.problems[0]).text);
    }
    compiler.before = [this](const Source& source) {
      for (int i = 0; i < 5000 && of_twins_.contains(source.text) && !second_was_screened; ++i) usleep(1000);
      return OkStatus();
    };
  }
  Result<CampaignResult> RunTwins() {
    const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
      return SomeSearch(gemm, space, StopAfterEvaluations(8));
    };
    return RunCampaign(options, make_search, judges, &compiler, nullptr, *StopOnAny({}), on_event);
  }

  std::atomic<bool> second_was_screened = false;

 private:
  std::set<std::string> of_twins_;
};

TEST_F(WaitingHeatTest, WhileAHeatWaitsForItsKernelsTheOtherLayoutIsScreened) {
  options.problems.resize(2);
  options.problems[1] = options.problems[0];
  options.problems[1].kind.layout = kNn;
  ASSERT_NO_FATAL_FAILURE(SearchWithTwinsThatWait());
  std::vector<std::pair<std::set<Layout>, Protocol>> order;
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    std::set<Layout> layouts;
    for (const Contender& contender : contenders) layouts.insert(contender.request.gemm.kind.layout);
    const Protocol protocol = contenders[0].request.protocol;
    if (order.empty() || order.back() != std::pair(layouts, protocol)) order.emplace_back(layouts, protocol);
    if (layouts.contains(kNn)) second_was_screened = true;
  };
  const Result<CampaignResult> result = RunTwins();
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto place = [&](const std::set<Layout>& layouts, Protocol protocol) {
    return std::find(order.begin(), order.end(), std::pair(layouts, protocol)) - order.begin();
  };
  EXPECT_LT(place({kNn}, Protocol::kScreen), place({kTn}, Protocol::kHeat));
  const auto last_heat = std::max(place({kTn}, Protocol::kHeat), place({kNn}, Protocol::kHeat));
  EXPECT_EQ(place({kTn, kNn}, Protocol::kShort), last_heat + 1) << "one race, on a GPU as warm as in the heat";
  EXPECT_EQ(order.size(), size_t(last_heat + 2));
  EXPECT_TRUE(result->problems[0].complete && result->problems[1].complete);
}

TEST_F(WaitingHeatTest, WhileAHeatWaitsForItsKernelsTheNextShapeIsScreenedAndItsFinalsWaitTheirTurn) {
  options.problems.resize(3);
  ASSERT_NO_FATAL_FAILURE(SearchWithTwinsThatWait());
  std::vector<std::pair<Gemm, Protocol>> order;
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    const std::pair exchange(contenders[0].request.gemm, contenders[0].request.protocol);
    if (order.empty() || order.back() != exchange) order.push_back(exchange);
    if (exchange.first == options.problems[1]) second_was_screened = true;
  };
  const Result<CampaignResult> result = RunTwins();
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto place = [&](size_t problem, Protocol protocol) {
    return std::find(order.begin(), order.end(), std::pair(options.problems[problem], protocol)) - order.begin();
  };
  EXPECT_LT(place(1, Protocol::kScreen), place(0, Protocol::kHeat));
  EXPECT_LT(place(0, Protocol::kShort), place(1, Protocol::kShort));
  EXPECT_LT(place(0, Protocol::kShort), place(2, Protocol::kScreen)) << "no more than two shapes at a time";
  EXPECT_EQ(place(2, Protocol::kShort) + 1, std::ssize(order));
  for (const ProblemResult& problem : result->problems) EXPECT_TRUE(problem.complete);
}

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
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    if (contenders[0].request.gemm != options.problems[0]) return;
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
  evaluator.on_exchange = [](std::span<const Contender>) { usleep(1000); };
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
  evaluator.on_exchange = [&](std::span<const Contender> contenders) {
    order.emplace_back(contenders[0].request.gemm, contenders[0].request.protocol);
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

TEST_F(SetTest, AWorldThatFailsBeforeAnythingIsCompleteIsAStatus) {
  evaluator.judge = [](const EvaluationRequest&) -> Result<Outcome> { return IoError("the GPU is gone"); };
  const Result<CampaignResult> result = RunSet();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "the GPU is gone");
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

TEST_F(SetTest, NoProblemsAreDoneAtOnce) {
  options.problems.clear();
  EXPECT_TRUE(RunSet()->problems.empty());
}

TEST(StopRuleTest, ABudgetSaysBeforehandHowMuchIsLeft) {
  EXPECT_EQ(StopAfterEvaluations(3)->EvaluationsLeft({.evaluations = 2}), 1);
  EXPECT_EQ(StopAfterEvaluations(3)->EvaluationsLeft({.evaluations = 7}), 0);
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterSeconds(1));
  EXPECT_GT(StopAfterSeconds(1)->EvaluationsLeft({}), 1 << 20);
  rules.push_back(StopAfterEvaluations(5));
  EXPECT_EQ(StopOnAny(std::move(rules))->EvaluationsLeft({}), 5);
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

TEST_P(InterruptTest, ASignalStopsBetweenExchangesAndKeepsEverything) {
  const pid_t child = fork();
  if (child == 0) {
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (evaluator.requests.size() == 7) raise(GetParam());
      return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
    };
    options.finalists = 4;
    size_t judged_together = 0;
    evaluator.on_exchange = [&](std::span<const Contender> contenders) {
      judged_together = evaluator.requests.size() + contenders.size();
    };
    const Result<CampaignResult> result = RunAll(store.archive.get(), 1 << 20, *StopOnInterrupt());
    const bool right = result.ok() && result->stop_reason == "interrupted" && result->problems[0].best &&
                       !result->problems[0].complete && result->judged == int64_t(judged_together) &&
                       InterruptArrived() && store.Trials().size() == judged_together;
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
    raise(GetParam() == SIGINT ? SIGTERM : SIGINT);  // which one came first makes no difference
    WatchForInterrupts();
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
