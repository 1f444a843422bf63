// The instrument itself: what it says of kernels whose times are known.
#include <gtest/gtest.h>

#include "evaluate/gpu_judge.h"
#include "evaluate/time/offline_clock.h"

namespace gemmsmith {
namespace {

class ClocksGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Result<const Driver*> driver = Driver::Open(); !driver.ok()) GTEST_SKIP() << driver.status().message();
    Result<std::unique_ptr<GpuJudge>> judge = GpuJudge::Open(0);
    ASSERT_TRUE(judge.ok()) << judge.status().message();
    judge_ = *std::move(judge);
  }

  PutCall Spin(int64_t cycles) {
    return [this, cycles] { return judge_->harness().Spin(cycles); };
  }
  Result<RaceResult> RaceOnDevice(const std::vector<PutCall>& calls) {
    std::vector<CallGraph> graphs;
    std::vector<RaceEntry> entries;
    for (const PutCall& call : calls) {
      ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(judge_->gpu(), call));
      graphs.push_back(std::move(graph));
      entries.push_back({fmt::format("contender {}", entries.size()), true});
    }
    std::vector<const CallGraph*> pointers;
    for (const CallGraph& graph : graphs) pointers.push_back(&graph);
    ASSIGN_OR_RETURN(DeviceClock clock, DeviceClock::Create(judge_->gpu(), calls.size(), Spin(200'000)));
    Random random(1);
    return Race(entries, {30, 30, 0}, Clock::kDevice, random, {},
                [&](std::span<const size_t> order) { return clock.TimeRound(pointers, order); });
  }

  std::unique_ptr<GpuJudge> judge_;
};

TEST_F(ClocksGpuTest, TheSameKernelAgainstItselfIsOne) {
  for (int64_t cycles : {2'000, 20'000, 200'000}) {
    const Result<RaceResult> race = RaceOnDevice({Spin(cycles), Spin(cycles)});
    ASSERT_TRUE(race.ok()) << race.status().message();
    EXPECT_NEAR(race->comparisons[0].ratio.median, 1.0, 0.01) << cycles;
  }
}

TEST_F(ClocksGpuTest, KnownDifferencesAreSeenWithinOnePercentOnBothClocks) {
  const std::vector<PutCall> calls = {Spin(200'000), Spin(210'000), Spin(400'000)};
  const Result<RaceResult> device = RaceOnDevice(calls);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_NEAR(device->comparisons[0].ratio.median, 1.05, 0.0105);
  EXPECT_NEAR(device->comparisons[1].ratio.median, 2.0, 0.02);

  Result<OfflineClock> clock = OfflineClock::Create(judge_->gpu(), calls.size());
  ASSERT_TRUE(clock.ok()) << clock.status().message();
  const std::vector<RaceEntry> entries = {{"200", true}, {"210", true}, {"400", true}};
  Random random(1);
  // A constant of a few microseconds lies between the events of every call; differences are free of it.
  const Result<RaceResult> offline =
      Race(entries, {50, 50, 0}, Clock::kOffline, random, {},
           [&](std::span<const size_t> order) { return clock->TimeRound(calls, order); });
  ASSERT_TRUE(offline.ok()) << offline.status().message();
  const double one = offline->timings[1].median_ns - offline->timings[0].median_ns;
  const double two = offline->timings[2].median_ns - offline->timings[0].median_ns;
  EXPECT_NEAR(two / one, 20.0, 2.0);
  EXPECT_NEAR(two, device->timings[0].median_ns, 0.02 * device->timings[0].median_ns);
}

TEST_F(ClocksGpuTest, ALaunchTheDriverRefusesIsLaunchFailedAndCostsNoWorker) {
  const StepListener silent = [](std::string_view) {};
  const ProblemMessage problem{{{64, 64, 64}, {kTn}}, Protocol::kScreen, false, 1};
  ASSERT_TRUE(judge_->Prepare(problem, silent).ok());
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  const Source source{"extern \"C\" __global__ void nothing(int) {}", "nothing"};
  const Result<Compilation> compilation = (*compiler)->Compile(source, judge_->hello().device.Architecture());
  ASSERT_TRUE(compilation.ok() && compilation->succeeded);
  CandidateMessage candidate{{}, "nothing", compilation->binary.cubin};
  const auto refused = [&](const Launch& launch, const std::string& entry) {
    candidate.launch = launch;
    candidate.entry = entry;
    const Result<Judgement> judgement = judge_->Evaluate(candidate, silent);
    ASSERT_TRUE(judgement.ok()) << judgement.status().message();
    EXPECT_EQ(judgement->outcome.kind, OutcomeKind::kLaunchFailed) << judgement->outcome.reason;
    EXPECT_FALSE(judgement->worker_is_lost);
  };
  refused({.smem_bytes = 1 << 20}, "nothing");
  refused({.block = {4096, 1, 1}}, "nothing");
  refused({}, "no_such_entry");
}

}  // namespace
}  // namespace gemmsmith
