// The instrument itself: what it says of kernels whose times are known.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/time/call_clocks.h"
#include "evaluate/time/energy_clock.h"
#include "evaluate/time/race_rules.h"

namespace gemmsmith {
namespace {

const StepListener kSilent = [](const Step&) {};

// Calls of cuBLAS on squares, all in the same memory.
class SquareProducts {
 public:
  static Result<SquareProducts> Make(GpuJudge& judge, int64_t largest_side) {
    SquareProducts products(judge.gpu());
    ASSIGN_OR_RETURN(products.cublas_, Cublas::Open());
    for (uint64_t i = 0; i < 3; ++i) {
      const uint64_t bytes = uint64_t(largest_side * largest_side) * sizeof(uint16_t);
      ASSIGN_OR_RETURN(DeviceMemory memory, judge.gpu().Allocate(bytes));
      RETURN_IF_ERROR(
          judge.harness().Fill({memory.as<void>(), largest_side, largest_side, largest_side}, Filling::kNormal, i));
      products.memory_.push_back(std::move(memory));
    }
    ASSIGN_OR_RETURN(DeviceMemory workspace, judge.gpu().Allocate(kBaselineWorkspaceBytes));
    products.memory_.push_back(std::move(workspace));
    return products;
  }
  // A and B of nothing but zeros from now on.
  Status Zero() {
    for (const size_t operand : {0, 1})
      RETURN_IF_ERROR(gpu_->Fill8(memory_[operand].address(), 0, memory_[operand].size_bytes()));
    return gpu_->Synchronize();
  }
  PutCall Of(int side) {
    const GemmBuffers buffers{memory_[0].as<void>(), memory_[1].as<void>(), memory_[2].as<void>(),
                              memory_[3].as<void>(), memory_[3].size_bytes()};
    return [this, side, buffers] { return cublas_->GemmEx({{side, side, side}, {kTn}}, buffers, gpu_->stream()); };
  }

 private:
  explicit SquareProducts(Gpu& gpu) : gpu_(&gpu) {}
  Gpu* gpu_;
  std::unique_ptr<Cublas> cublas_;
  std::vector<DeviceMemory> memory_;  // A, B, C, workspace
};

class ClocksGpuTest : public TestWithJudge {
 protected:
  Gpu& gpu() { return judge_->gpu(); }
  PutCall Spin(int64_t cycles) {
    return [this, cycles] { return judge_->harness().Spin(cycles); };
  }
  PutCall LeadIn() {
    return [this] { return judge_->harness().LeadIn(); };
  }

  // The first against the others, behind rounds that do not count.
  static Result<RaceResult> RaceOn(Result<std::unique_ptr<RoundClock>> clock, size_t count, const RaceRules& rules,
                                   const WarmUp& warm_up = {}) {
    RETURN_IF_ERROR(clock.status());
    std::vector<RaceEntry> entries;
    for (size_t i = 0; i < count; ++i)
      entries.push_back({fmt::format("contender {}", i), Clock::kDevice, i == 0 ? 0 : kNoCandidate, i > 0});
    const TimeRound time_round = [&](std::span<const size_t> round) {
      return (*clock)->TimeRound(round, [](size_t) {});
    };
    RETURN_IF_ERROR(RunWarmUp(warm_up, count, time_round));
    Random random(1);
    return Race(entries, rules, random, {}, time_round);
  }
  static RaceRules Rounds(int rounds) { return {rounds, rounds, 0}; }
  Result<RaceResult> RaceOnDevice(const std::vector<PutCall>& calls, Batch batch, int rounds,
                                  const WarmUp& warm_up = {}) {
    std::vector<CallGraph> graphs;
    for (const PutCall& call : calls) {
      ASSIGN_OR_RETURN(const double call_ns, EstimateNs(gpu(), LeadIn(), call));
      ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(gpu(), call, call_ns, batch));
      graphs.push_back(std::move(graph));
    }
    std::vector<Visit> visits;
    for (const CallGraph& graph : graphs) visits.push_back({&graph});
    return RaceOn(DeviceClock::Create(gpu(), visits, LeadIn()), calls.size(), Rounds(rounds), warm_up);
  }
  // As the judge does it: calls of more than 0.3 ms in steady-state visits.
  Result<RaceResult> RaceTwice(const PutCall& call) {
    ASSIGN_OR_RETURN(const double call_ns, EstimateNs(gpu(), LeadIn(), call));
    const std::optional<Window> window = WindowFor(Protocol::kShort, Clock::kDevice, call_ns);
    std::vector<CallGraph> graphs;
    std::vector<Visit> visits;
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(gpu(), call, call_ns, Batch::kLong));
      graphs.push_back(std::move(graph));
    }
    for (const CallGraph& graph : graphs) visits.push_back(VisitFor(graph, call_ns, window));
    return RaceOn(DeviceClock::Create(gpu(), visits, LeadIn()), 2,
                  window ? RulesFor(Protocol::kShort, Clock::kDevice, {2, call_ns}) : Rounds(30),
                  WarmUpFor(Protocol::kShort, {2, call_ns}, false, window.has_value()));
  }
  // A hundred races, each with graphs of its own; returns what they say together.
  double ExpectCoverage(std::string_view name, const PutCall& ours, const PutCall& baseline,
                        const WarmUp& warm_up = {}) {
    std::vector<RatioEstimate> repeats;
    std::vector<double> medians, widths;
    for (int i = 0; i < 100; ++i) {
      const Result<RaceResult> race = RaceOnDevice({ours, baseline}, Batch::kLong, 20, warm_up);
      EXPECT_TRUE(race.ok()) << race.status().message();
      if (!race.ok()) return 0;
      repeats.push_back(race->comparisons[0][0].ratio);
      medians.push_back(repeats.back().median);
      widths.push_back(repeats.back().interval.Width());
    }
    const double truth = Median(medians);
    const auto covered = std::count_if(repeats.begin(), repeats.end(), [&](const RatioEstimate& ratio) {
      return ratio.interval.low <= truth && truth <= ratio.interval.high;
    });
    fmt::print("{}: {} of 100 intervals cover {:.5f}; medians scatter by {:.5f}, intervals are {:.5f} wide\n", name,
               covered, truth, StandardDeviation(medians), Median(widths));
    EXPECT_GE(covered, 90) << name;
    return truth;
  }
  // The outcome of a race of baselines alone.
  Outcome RaceBaselines(const ProblemMessage& problem) {
    const Status prepared = judge_->Prepare(problem, kSilent);
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    if (!prepared.ok()) return {};
    const Result<Judgements> judgements = judge_->RaceBaselines(kSilent);
    EXPECT_TRUE(judgements.ok()) << judgements.status().message();
    return judgements.ok() ? judgements->outcomes.at(0).value() : Outcome{};
  }
  static ProblemMessage Alone(const Gemm& gemm, std::string_view baselines, ClockSet clocks) {
    ProblemMessage problem{{gemm, Protocol::kShort, clocks, 1}};
    problem.baselines = *BaselineSet::Parse(baselines);
    problem.only_baselines = true;
    return problem;
  }
};

// ---- the same against the same

// In graphs of which there are twins, as published times are: of single ones two of the shortest calls are 1.3 % apart.
TEST_F(ClocksGpuTest, TheSameSpinAgainstItselfIsOne) {
  for (int64_t cycles : {2'000, 20'000, 200'000}) {
    const Result<RaceResult> race = RaceOnDevice({Spin(cycles), Spin(cycles)}, Batch::kLong, 30);
    ASSERT_TRUE(race.ok()) << race.status().message();
    EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.0, 0.01) << cycles;
  }
}

// cuBLAS on 50 squares whose calls take from about 2 us to 9 ms.
TEST_F(ClocksGpuTest, TheSameProductAgainstItselfIsOneOverFiftyShapes) {
  constexpr int kShapes = 50;
  constexpr double kSmallest = 64, kLargest = 14336;
  Result<SquareProducts> products = SquareProducts::Make(*judge_, int(kLargest));
  ASSERT_TRUE(products.ok()) << products.status().message();
  for (int i = 0; i < kShapes; ++i) {
    const int side = int(kSmallest * std::pow(kLargest / kSmallest, double(i) / (kShapes - 1))) / 8 * 8;
    const Result<RaceResult> race = RaceTwice(products->Of(side));
    ASSERT_TRUE(race.ok()) << side << ": " << race.status().message();
    EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.0, 0.01)
        << side << ": "
        << fmt::format("{:.0f} against {:.0f}", fmt::join(race->timings[0].samples_ns, " "),
                       fmt::join(race->timings[1].samples_ns, " "));
  }
}

// ---- known differences

TEST_F(ClocksGpuTest, KnownDifferencesAreSeenWithinOnePercentOnTheDeviceClock) {
  const Result<RaceResult> race =
      RaceOnDevice({Spin(200'000), Spin(204'000), Spin(210'000), Spin(400'000)}, Batch::kBrief, 30);
  ASSERT_TRUE(race.ok()) << race.status().message();
  const std::vector<Comparison>& against = race->comparisons[0];
  EXPECT_NEAR(against[0].ratio.median, 1.02, 0.0102);
  EXPECT_NEAR(against[1].ratio.median, 1.05, 0.0105);
  EXPECT_NEAR(against[2].ratio.median, 2.0, 0.02);
}

// Every call on these clocks has a constant of some microseconds. Where other programs use the host, the constant
// scatters by as much (3.6 % of 0.1 ms in one run). Differences of a millisecond are free of both.
TEST_F(ClocksGpuTest, KnownDifferencesAreSeenOnTheClocksOfCalls) {
  const std::vector<PutCall> calls = {Spin(2'000'000), Spin(4'000'000), Spin(6'000'000)};
  // An idle GPU's clock takes its time to rise, and cycles are what is known.
  ASSERT_TRUE(RaceOnDevice(calls, Batch::kLong, 20).ok());
  const Result<RaceResult> device = RaceOnDevice(calls, Batch::kBrief, 30);
  ASSERT_TRUE(device.ok()) << device.status().message();
  // The start of a graph costs some microseconds too.
  const double difference_ns = device->timings[1].median_ns - device->timings[0].median_ns;
  const auto check = [&](std::string_view name, Result<std::unique_ptr<RoundClock>> clock) {
    const Result<RaceResult> race = RaceOn(std::move(clock), calls.size(), Rounds(60));
    ASSERT_TRUE(race.ok()) << name << ": " << race.status().message();
    const auto time = [&](size_t i) { return race->timings[i].median_ns; };
    EXPECT_NEAR((time(2) - time(0)) / (time(1) - time(0)), 2.0, 0.04) << name;
    EXPECT_NEAR(time(1) - time(0), difference_ns, 0.02 * difference_ns) << name;
  };
  check("offline", OfflineClock::Create(gpu(), calls, 1));
  check("server", ServerClock::Create(gpu(), calls, Gaps(Random(1))));
  check("host", std::unique_ptr<RoundClock>(new HostClock(gpu(), calls)));
}

TEST_F(ClocksGpuTest, OutliersDoNotMoveTheMedian) {
  int calls = 0;
  const PutCall with_outliers = [&] { return judge_->harness().Spin(++calls % 7 == 0 ? 1'000'000 : 200'000); };
  const Result<RaceResult> race = RaceOn(OfflineClock::Create(gpu(), {with_outliers, Spin(200'000)}, 1), 2, Rounds(70));
  ASSERT_TRUE(race.ok()) << race.status().message();
  EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.0, 0.01);
  EXPECT_GT(race->timings[0].mean_ns, 1.3 * race->timings[0].median_ns) << "the outliers were there";
}

// 24 MB that stay in L2 from call to call, beside a baseline that leaves nothing of them there. (It must draw little:
// beside a product of 8192 the GPU came to its power cap, and this one took 34.8 us instead of 28.2. Calls of 10 us
// would take 7 % more beside each other than beside a long one, behind which the host gets ahead: 1024x1024x1024. H200,
// November 2026.)
TEST_F(ClocksGpuTest, OfflineAProductTakesAsLongWhoeverRacesBesideIt) {
  Result<SquareProducts> products = SquareProducts::Make(*judge_, 2048);
  ASSERT_TRUE(products.ok()) << products.status().message();
  constexpr uint64_t kMuchMoreThanL2 = 384'000'000;
  const Result<DeviceMemory> memory = gpu().Allocate(kMuchMoreThanL2);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  const PutCall product = products->Of(2048),
                write_all = [&] { return gpu().Fill8(memory->address(), 0, memory->size_bytes()); };
  const auto time_beside = [&](const PutCall& baseline) -> double {
    const Result<RaceResult> race = RaceOn(OfflineClock::Create(gpu(), {product, baseline}, 1), 2, Rounds(100));
    EXPECT_TRUE(race.ok()) << race.status().message();
    return race.ok() ? race->timings[0].median_ns : 0;
  };
  const double beside_itself_ns = time_beside(product);
  EXPECT_NEAR(time_beside(write_all), beside_itself_ns, 0.05 * beside_itself_ns);
}

// The last one of each four calls is the longest, and the one that is timed.
TEST_F(ClocksGpuTest, OfflineACallFollowsAsManyOfItsOwnAsAreAskedFor) {
  constexpr int kBefore = 3;
  constexpr int64_t kCycles = 400'000;
  std::vector<size_t> order;
  const PutCall longest_last = [&] {
    order.push_back(0);
    return judge_->harness().Spin(std::count(order.begin(), order.end(), 0) % (kBefore + 1) == 0 ? kCycles
                                                                                                 : kCycles / 8);
  };
  const PutCall as_long = [&] {
    order.push_back(1);
    return judge_->harness().Spin(kCycles);
  };
  Result<std::unique_ptr<RoundClock>> clock = OfflineClock::Create(gpu(), {longest_last, as_long}, kBefore);
  ASSERT_TRUE(clock.ok()) << clock.status().message();
  const std::vector<size_t> round = {1, 0};
  const Result<std::vector<double>> times = (*clock)->TimeRound(round, [](size_t) {});
  ASSERT_TRUE(times.ok()) << times.status().message();
  EXPECT_EQ(order, (std::vector<size_t>{1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_NEAR((*times)[0] / (*times)[1], 1.0, 0.1);
}

// The truth is what all repeats say together: the cycles are known, the time that every call adds to them is not.
TEST_F(ClocksGpuTest, IntervalsCoverTheTruthInAtLeastNinetyOfAHundredRepeats) {
  EXPECT_NEAR(ExpectCoverage("spins of 0.1 ms", Spin(200'000), Spin(204'000)), 1.02, 0.002);
}

TEST_F(ClocksGpuTest, IntervalsOfProductsCoverTheTruthInAtLeastNinetyOfAHundredRepeats) {
  Result<SquareProducts> products = SquareProducts::Make(*judge_, 2048);
  ASSERT_TRUE(products.ok()) << products.status().message();
  ExpectCoverage("products of 256 and 320", products->Of(256), products->Of(320));
  ExpectCoverage("products of 1024 and 1088", products->Of(1024), products->Of(1088));
  // From here on the power cap has a say, and the GPU has to be as warm as the judge makes it.
  ExpectCoverage("products of 1920 and 2048", products->Of(1920), products->Of(2048),
                 WarmUpFor(Protocol::kShort, {}, false));
}

// ---- baselines on every clock

TEST_F(ClocksGpuTest, BaselinesRaceAloneOnEveryClockAndTheClocksStandInTheirOrder) {
  const ClockSet clocks = {Clock::kDevice, Clock::kDeviceCold, Clock::kOffline, Clock::kServer, Clock::kHost};
  // The first has operands in L2, the second so small ones that copies of them would be too.
  for (const Shape& shape : {Shape{1024, 1024, 1024}, Shape{128, 128, 512}}) {
    const Outcome outcome = RaceBaselines(Alone({shape, {kTn}}, "lt_auto,cublas", clocks));
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.comparisons.size(), 5 * (2 * 2 + 2u)) << "cublas against both, each AutoTuning against the other";
    for (const char* name : {"lt_auto_nn", "lt_auto_tn", "cublas_nn", "cublas_tn"}) {
      const auto median = [&](Clock clock) {
        const Timing* const timing = outcome.Find(name, clock);
        EXPECT_NE(timing, nullptr) << name << " " << Name(clock);
        return timing == nullptr ? 0 : timing->median_ns;
      };
      EXPECT_GT(median(Clock::kDeviceCold), 1.0 * median(Clock::kDevice)) << name << " " << Print(shape);
      EXPECT_GT(median(Clock::kOffline), 0.98 * median(Clock::kDevice)) << name << " " << Print(shape);
      // Not offline's: there the second event has to be submitted too, which takes some hosts longer than to see the
      // end.
      EXPECT_GT(median(Clock::kHost), median(Clock::kDevice)) << name << " " << Print(shape);
      EXPECT_GT(median(Clock::kServer), 0.95 * median(Clock::kOffline)) << name << " " << Print(shape);
    }
    const Timing* const server = outcome.Find("cublas_tn", Clock::kServer);
    EXPECT_TRUE(server->sample_count >= 60 && server->sample_count <= 100) << server->sample_count;
  }
}

TEST_F(ClocksGpuTest, LongCallsAreJudgedInSteadyState) {
  const Outcome outcome = RaceBaselines(Alone({{8192, 8192, 4096}, {kTn}}, "lt_auto_tn,cublas_tn", {Clock::kDevice}));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  EXPECT_TRUE(outcome.conditions.in_steady_state);
  EXPECT_GE(outcome.Find("cublas_tn", Clock::kDevice)->sample_count, 8);
}

// ---- energy

TEST_F(ClocksGpuTest, TheSameProductTakesTheSameJoulesAndZerosTakeFewer) {
  constexpr int kSide = 8192;
  const Result<std::unique_ptr<Nvml>> nvml = Nvml::Open(gpu().identity().uuid);
  const Result<EnergyMeter> meter = MeterOf(nvml.ok() ? nvml->get() : nullptr);
  if (!meter.ok()) GTEST_SKIP() << meter.status().message();
  Result<SquareProducts> normal = SquareProducts::Make(*judge_, kSide), zeros = SquareProducts::Make(*judge_, kSide);
  ASSERT_TRUE(normal.ok() && zeros.ok());
  ASSERT_TRUE(zeros->Zero().ok());
  const PutCall calls[] = {normal->Of(kSide), normal->Of(kSide), zeros->Of(kSide)};
  std::vector<CallGraph> graphs;
  std::vector<EnergyVisit> visits;
  graphs.reserve(std::size(calls));
  for (const PutCall& call : calls) {
    const Result<double> call_ns = EstimateNs(gpu(), LeadIn(), call);
    ASSERT_TRUE(call_ns.ok()) << call_ns.status().message();
    Result<CallGraph> graph = CallGraph::Capture(gpu(), call, *call_ns, Batch::kLong);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    graphs.push_back(*std::move(graph));
    visits.push_back({&graphs.back(), *call_ns});
  }
  const Result<std::unique_ptr<RoundClock>> clock = EnergyClock::Create(gpu(), visits, *meter);
  ASSERT_TRUE(clock.ok()) << clock.status().message();
  const RaceEntry entries[] = {{"ours", Clock::kEnergy, 0}, {"same", Clock::kEnergy}, {"zeros", Clock::kEnergy}};
  Random random(1);
  Result<RaceResult> race =
      Race(entries, RulesFor(Protocol::kShort, Clock::kEnergy), random, {},
           [&](std::span<const size_t> order) { return (*clock)->TimeRound(order, [](size_t) {}); });
  ASSERT_TRUE(race.ok()) << race.status().message();
  for (size_t i = 0; i < race->timings.size(); ++i) {
    Timing& timing = race->timings[i];
    (*clock)->Complete(i, race->kept_rounds, timing);
    ASSERT_TRUE(timing.energy);
    fmt::print("{}: {:.1f} us, {:.4f} J, {:.0f} W, {:.0f} MHz\n", timing.contender, timing.median_ns / 1e3,
               timing.energy->joules, timing.energy->watts, timing.energy->sm_clock_mhz);
  }
  const std::vector<Comparison>& over = race->comparisons[0];
  EXPECT_NEAR(over[0].ratio.median, 1, 0.03) << "against itself";
  EXPECT_LT(over[1].ratio.median, 0.9) << "zeros against normal numbers";
  EXPECT_LT(race->timings[2].energy->watts, race->timings[0].energy->watts);
  EXPECT_GT(race->timings[0].energy->watts, 100) << "of a GPU at work";
}

TEST_F(ClocksGpuTest, BaselinesAreJudgedByEnergyToo) {
  const Outcome outcome =
      RaceBaselines(Alone({{8192, 8192, 4096}, {kTn}}, "lt_auto", {Clock::kDevice, Clock::kEnergy}));
  for (const char* entry : {"lt_auto_nn", "lt_auto_tn"}) {
    const Timing* const windows = outcome.Find(entry, Clock::kEnergy);
    const Timing* const device = outcome.Find(entry, Clock::kDevice);
    ASSERT_TRUE(windows != nullptr && windows->energy && device != nullptr) << entry;
    EXPECT_NEAR(windows->median_ns / device->median_ns, 1, 0.05) << "settled, too";
    EXPECT_NEAR(windows->energy->joules, windows->energy->watts * windows->median_ns / 1e9,
                0.03 * windows->energy->joules);
  }
}

TEST_F(ClocksGpuTest, TheExhaustiveChoiceIsNoSlowerThanAutoTuning) {
  const Outcome outcome =
      RaceBaselines(Alone({{512, 512, 2048}, {kTn}}, "lt_auto_tn,lt_exhaustive_tn", {Clock::kDevice}));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  for (const auto& [name, algorithm] : outcome.baseline_algorithms) fmt::print("{}: {}\n", name, algorithm);
  const Timing* const exhaustive = outcome.Find("lt_exhaustive_tn", Clock::kDevice);
  ASSERT_NE(exhaustive, nullptr);
  EXPECT_LT(exhaustive->median_ns, 1.03 * outcome.Find("lt_auto_tn", Clock::kDevice)->median_ns);
}

TEST_F(ClocksGpuTest, WhatIsNotThereIsMissingWithTheReasonAndTheOthersRace) {
  const Outcome outcome =
      RaceBaselines(Alone({{512, 512, 512}, {kTn}}, "lt_auto_tn,torch_tn,so:/nowhere/kernel.so", {Clock::kDevice}));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  ASSERT_EQ(outcome.baseline_algorithms.size(), 3u);
  EXPECT_NE(outcome.baseline_algorithms[2].second.find("does not load"), std::string::npos);
  EXPECT_EQ(outcome.Find("so:/nowhere/kernel.so", Clock::kDevice), nullptr);
  // torch is there or it is not.
  const Timing* const torch = outcome.Find("torch_tn", Clock::kDevice);
  fmt::print("torch_tn: {}\n", outcome.baseline_algorithms[1].second);
  if (torch == nullptr)
    EXPECT_NE(outcome.baseline_algorithms[1].second.find("torch"), std::string::npos);
  else
    EXPECT_LT(torch->median_ns, 3 * outcome.Find("lt_auto_tn", Clock::kDevice)->median_ns);
}

// ---- candidates

TEST_F(ClocksGpuTest, ALaunchTheDriverRefusesIsLaunchFailedAndCostsNoWorker) {
  const ProblemMessage problem{{{{64, 64, 64}, {kTn}}, Protocol::kScreen, {Clock::kDevice}, 1}};
  ASSERT_TRUE(judge_->Prepare(problem, kSilent).ok());
  Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
  ASSERT_TRUE(compiler.ok());
  const Source source{"extern \"C\" __global__ void nothing(int) {}", "nothing"};
  const Result<Compilation> compilation = (*compiler)->Compile(source, judge_->hello().device.Architecture());
  ASSERT_TRUE(compilation.ok() && compilation->succeeded);
  CandidateMessage candidate{{}, "nothing", compilation->binary.cubin};
  const auto refused = [&](const Launch& launch, const std::string& entry) {
    candidate.launch = launch;
    candidate.entry = entry;
    const Result<Judgements> judgements = judge_->Evaluate({&candidate, 1}, kSilent);
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
  ASSERT_TRUE(
      judge_->Prepare({{{{64, 64, 64}, {kTn}}, Protocol::kScreen, {Clock::kDevice, Clock::kDeviceChained}, 1}}, kSilent)
          .ok());
  Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
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
  const Result<Judgements> judgements = judge_->Evaluate(candidates, kSilent);
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
