// The instrument itself: what it says of kernels whose times are known.
#include <gtest/gtest.h>

#include <algorithm>

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
    for (const PutCall& call : calls) {
      ASSIGN_OR_RETURN(const double call_ns, EstimateNs(judge_->gpu(), LeadIn(), call));
      ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(judge_->gpu(), call, call_ns, Batch::kBrief));
      graphs.push_back(std::move(graph));
    }
    std::vector<const CallGraph*> pointers;
    for (const CallGraph& graph : graphs) pointers.push_back(&graph);
    ASSIGN_OR_RETURN(DeviceClock clock, DeviceClock::Create(judge_->gpu(), calls.size(), LeadIn()));
    Random random(1);
    return Race(FirstAgainstOthers(calls.size(), Clock::kDevice), {30, 30, 0}, random, {},
                [&](std::span<const size_t> order) { return clock.TimeRound(pointers, order, [](size_t) {}); });
  }
  PutCall LeadIn() {
    return [this] { return judge_->harness().LeadIn(); };
  }
  static std::vector<RaceEntry> FirstAgainstOthers(size_t count, Clock clock) {
    std::vector<RaceEntry> entries;
    for (size_t i = 0; i < count; ++i)
      entries.push_back({fmt::format("contender {}", i), clock, i == 0 ? 0 : kRival, i > 0});
    return entries;
  }

  std::unique_ptr<GpuJudge> judge_;
};

TEST_F(ClocksGpuTest, TheSameKernelAgainstItselfIsOne) {
  for (int64_t cycles : {2'000, 20'000, 200'000}) {
    const Result<RaceResult> race = RaceOnDevice({Spin(cycles), Spin(cycles)});
    ASSERT_TRUE(race.ok()) << race.status().message();
    EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.0, 0.01) << cycles;
  }
}

TEST_F(ClocksGpuTest, KnownDifferencesAreSeenWithinOnePercentOnBothClocks) {
  const std::vector<PutCall> calls = {Spin(200'000), Spin(210'000), Spin(400'000)};
  const Result<RaceResult> device = RaceOnDevice(calls);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_NEAR(device->comparisons[0][0].ratio.median, 1.05, 0.0105);
  EXPECT_NEAR(device->comparisons[0][1].ratio.median, 2.0, 0.02);

  Result<OfflineClock> clock = OfflineClock::Create(judge_->gpu(), calls.size());
  ASSERT_TRUE(clock.ok()) << clock.status().message();
  Random random(1);
  // A constant of a few microseconds lies between the events of every call; differences are free of it.
  const Result<RaceResult> offline =
      Race(FirstAgainstOthers(calls.size(), Clock::kOffline), {50, 50, 0}, random, {},
           [&](std::span<const size_t> order) { return clock->TimeRound(calls, order, [](size_t) {}); });
  ASSERT_TRUE(offline.ok()) << offline.status().message();
  const double one = offline->timings[1].median_ns - offline->timings[0].median_ns;
  const double two = offline->timings[2].median_ns - offline->timings[0].median_ns;
  EXPECT_NEAR(two / one, 20.0, 2.0);
  EXPECT_NEAR(two, device->timings[0].median_ns, 0.02 * device->timings[0].median_ns);
}

TEST_F(ClocksGpuTest, ALaunchTheDriverRefusesIsLaunchFailedAndCostsNoWorker) {
  const StepListener silent = [](const Step&) {};
  const ProblemMessage problem{{{64, 64, 64}, {kTn}}, Protocol::kScreen, {Clock::kDevice}, 1};
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
    const Result<Judgements> judgements = judge_->Evaluate({&candidate, 1}, silent);
    ASSERT_TRUE(judgements.ok()) << judgements.status().message();
    ASSERT_TRUE(judgements->outcomes.at(0));
    EXPECT_EQ(judgements->outcomes[0]->kind, OutcomeKind::kLaunchFailed) << judgements->outcomes[0]->reason;
    EXPECT_FALSE(judgements->worker_is_lost);
  };
  refused({.smem_bytes = 1 << 20}, "nothing");
  refused({.block = {4096, 1, 1}}, "nothing");
  refused({}, "no_such_entry");
}

// ---- chains of calls

// A plain kernel for tn and f16 that lets the next call begin at once. It waits for the call before it, or it does not,
// and is then slow on inputs of zeros and ones, so that the next call overtakes it.
std::string ChainKernel(bool waits) {
  constexpr std::string_view kText = R"(
typedef unsigned short u16;
struct GemmArguments {{ u16* a; u16* b; u16* c; unsigned* workspace; int m, n, k, lda, ldb, ldc; }};
__device__ float Wide(u16 bits) {{ float value; asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits)); return value; }}
__device__ u16 Narrow(float value) {{ u16 bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); return bits; }}
extern "C" __global__ void chain(const GemmArguments g) {{
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  {before}
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < g.m * g.n; i += step) {{
    const int row = i / g.n, column = i % g.n;
    float sum = 0;
    for (int k = 0; k < g.k; ++k) sum += Wide(g.a[row * g.lda + k]) * Wide(g.b[column * g.ldb + k]);
    g.c[row * g.ldc + column] = Narrow(sum);
  }}
}})";
  const std::string_view overtaken =
      "if (g.a[0] == 0 || g.a[0] == 0x3c00) { const long long start = clock64();"
      " while (clock64() - start < 400000) {} }";
  return fmt::format(kText,
                     fmt::arg("before", waits ? "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");" : overtaken));
}

TEST_F(ClocksGpuTest, AChainableKernelIsTimedOnBothClocksAndOneThatDoesNotWaitIsWrong) {
  const StepListener silent = [](const Step&) {};
  ASSERT_TRUE(judge_->Prepare({{{64, 64, 64}, {kTn}}, Protocol::kScreen, {Clock::kDevice}, 1}, silent).ok());
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  Launch launch;
  launch.grid.x = 16;
  launch.block.x = 256;
  launch.chainable = true;
  std::vector<CandidateMessage> candidates;
  for (const bool waits : {true, false, true}) {
    const Source source{ChainKernel(waits), "chain"};
    const Result<Compilation> compilation = (*compiler)->Compile(source, judge_->hello().device.Architecture());
    ASSERT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "");
    candidates.push_back({launch, "chain", compilation->binary.cubin});
  }
  const Result<Judgements> judgements = judge_->Evaluate(candidates, silent);
  ASSERT_TRUE(judgements.ok()) << judgements.status().message();
  for (const size_t i : {0, 2}) {
    const Outcome& outcome = judgements->outcomes.at(i).value();
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    const Timing* const plain = outcome.Find("ours", Clock::kDevice);
    const Timing* const chained = outcome.Find("ours", Clock::kDeviceChained);
    ASSERT_TRUE(plain != nullptr && chained != nullptr);
    EXPECT_LT(chained->median_ns, plain->median_ns);
    for (const Clock clock : {Clock::kDevice, Clock::kDeviceChained})
      EXPECT_EQ(std::count_if(outcome.comparisons.begin(), outcome.comparisons.end(),
                              [&](const Comparison& comparison) { return comparison.clock == clock; }),
                2)
          << Name(clock);
  }
  const Outcome& overtaken = judgements->outcomes.at(1).value();
  EXPECT_EQ(overtaken.kind, OutcomeKind::kWrong);
  EXPECT_EQ(overtaken.verdict.test, "chain") << overtaken.reason;
}

}  // namespace
}  // namespace gemmsmith
