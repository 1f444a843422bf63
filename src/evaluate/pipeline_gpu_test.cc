// The wgmma family's pipeline under load: barriers, rings and clusters that hang or corrupt do so once in thousands of
// launches, so each of many random pipelines runs ten thousand times.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "base/all_cores.h"
#include "base/files.h"
#include "base/random.h"
#include "evaluate/gpu_test_compiler.h"
#include "evaluate/verify/verifier.h"
#include "program/axes.h"
#include "program/covering.h"
#include "program/emit.h"
#include "program/legality.h"
#include "program/random_plan.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

constexpr int kPipelines = 72, kLaunches = 10'000;
constexpr double kPatienceSeconds = 120;  // under a sanitizer a launch of large tiles takes more than 30

#define ASSERT_DONE(expression) ASSERT_TRUE((expression).ok())

// A kernel that hangs cannot be stopped from within: this process ends, and says at which plan.
class Watchdog {
 public:
  explicit Watchdog(std::string work)
      : work_(std::move(work)), thread_([this](std::stop_token stop) { Watch(stop); }) {}

 private:
  void Watch(const std::stop_token& stop) const {
    for (double waited = 0; waited < kPatienceSeconds; waited += 0.05) {
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    fmt::print(stderr, "hangs: {}\n", work_);
    std::abort();
  }
  const std::string work_;
  std::jthread thread_;
};

struct Pipeline {
  Gemm gemm;
  Plan plan;
  Compilation compilation;
};

// Small tiles and short runs, so that launches and stages, not arithmetic, fill the time. Persistent CTAs, a third of
// them, get more tiles and less k; those that share their staging have the largest tiles.
Gemm RandomGemm(Random& random, bool is_persistent, bool shares_staging) {
  const int least = shares_staging ? 30 : is_persistent ? 12 : 1;
  const int most_more = is_persistent ? 20 : 6, most_steps = is_persistent ? 6 : 40;
  const auto side = [&] { return int(64 * (least + random.Below(uint64_t(most_more)))); };
  const int m = side(), n = side();
  const int k = 64 * int(1 + random.Below(uint64_t(most_steps))) + (random.Below(4) == 0 ? 8 : 0);
  return {{m, n, k}, {random.Below(2) == 0 ? kTn : kNn}};
}

// Tiles by place, and on a walk back and forth: legal where calls are long enough, and operands large enough, for it to
// be worth it; here, where launches are to follow each other quickly, as well. Of so many persistent plans the first
// two of four take places, the first and the third turn back.
Plan WithOrder(Plan plan, size_t count) {
  plan.Set("place", count % 4 < 2);
  plan.Set("walk", int(count % 2 == 0 ? Walk::kBackAndForth : Walk::kOnward));
  if (count % 2 == 0 && WgmmaPlan(plan).store == Store::kBoxes) plan.Set("store", int(Store::kBoxesFirstOut));
  return plan;
}

// A third of them persistent, in the orders of tiles that there are, and every third shares its staging; a quarter and
// those end their tiles in turn, of one tile a CTA and of many: a wait more in which to hang.
std::vector<Pipeline> RandomPipelines(const Device& device) {
  Random random(20261121);
  const Family& family = GetFamily(FamilyId::kWgmma);
  const auto any_of = [&](std::string_view parameter, const auto& is_wanted) -> AxisValue {
    const auto axis = size_t(family.IndexOf(parameter));
    std::vector<int> wanted;
    for (const int value : family.parameters[axis].values)
      if (is_wanted(value)) wanted.push_back(value);
    return {axis, wanted[random.Below(wanted.size())]};
  };
  std::vector<Pipeline> pipelines;
  while (pipelines.size() < kPipelines) {
    const size_t count = pipelines.size();
    const bool is_persistent = count % 3 == 2, shares_staging = is_persistent && count / 3 % 3 == 1;
    const bool ends_in_turn = count % 4 == 3 || shares_staging;
    const Gemm gemm = RandomGemm(random, is_persistent, shares_staging);
    std::vector<AxisValue> settings{any_of("schedule", [&](int value) {
      if (shares_staging) return value == int(Schedule::kCooperative);
      return (value != int(Schedule::kOneTile)) == is_persistent;
    })};
    if (ends_in_turn) settings.push_back(any_of("finish", [](int value) { return value != 0; }));
    std::optional<Plan> plan = RandomLegalPlan(family, settings, gemm, device, random);
    if (!plan || (shares_staging && !WgmmaPlan(*plan).SharesStaging())) continue;
    if (is_persistent) plan = WithOrder(*plan, count / 3);
    pipelines.push_back({gemm, *plan, {}});
  }
  return pipelines;
}

std::vector<Plan> InAllOrders(std::vector<Plan> plans) {
  size_t persistent = 0;
  for (Plan& plan : plans)
    if (plan.family == FamilyId::kWgmma && WgmmaPlan(plan).is_persistent()) plan = WithOrder(plan, persistent++);
  return plans;
}

class PipelineGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::Open(0);
    if (!gpu.ok()) GTEST_SKIP() << gpu.status().message();
    gpu_ = *std::move(gpu);
    if (gpu_->identity().device.compute_capability() != 90) GTEST_SKIP() << "no Hopper GPU";
    Result<std::unique_ptr<Compiler>> compiler = MakeCompilerOnAllCores();
    ASSERT_DONE(compiler);
    compiler_ = *std::move(compiler);
    Result<std::unique_ptr<HarnessKernels>> harness = HarnessKernels::Load(*gpu_, *compiler_);
    ASSERT_DONE(harness);
    harness_ = *std::move(harness);
  }

  void CompileAll(std::vector<Pipeline>& pipelines) {
    ForEachOnAllCores(pipelines.size(), [&](size_t at) {
      pipelines[at].compilation =
          *compiler_->Compile(Emit(pipelines[at].plan, pipelines[at].gemm), gpu_->identity().device.Architecture());
    });
  }

  // So many launches, then `after`, which may launch more; what is there then is right. A launch is what it is called
  // with.
  using Again = std::function<Status(const std::function<Status()>& launch, const GuardedMatrix& c)>;
  void Run(const Pipeline& pipeline, Chaining chaining, int launches, const Again& after = {}) {
    SCOPED_TRACE(Print(pipeline.gemm) + " | " + Print(pipeline.plan));
    ASSERT_TRUE(pipeline.compilation.succeeded) << pipeline.compilation.log;
    const Gemm& gemm = pipeline.gemm;
    const Task task = MakeTask(gemm);
    Result<GuardedMatrix> a = GuardedMatrix::Create(*gpu_, task.inputs[0], true);
    Result<GuardedMatrix> b = GuardedMatrix::Create(*gpu_, task.inputs[1], gemm.kind.layout.b == Order::kRow);
    Result<GuardedMatrix> c = GuardedMatrix::Create(*gpu_, task.output, true);
    ASSERT_TRUE(a.ok() && b.ok() && c.ok());
    ASSERT_DONE(FillOperand(*harness_, *a, 'A', InputKind::kNormal, gemm, 1));
    ASSERT_DONE(FillOperand(*harness_, *b, 'B', InputKind::kNormal, gemm, 1));
    const Result<Reference> reference = MakeReference(*gpu_, *harness_, gemm, *a, *b);
    ASSERT_DONE(reference);
    Inputs inputs{InputKind::kNormal, &*a, &*b, &*reference};
    ASSERT_DONE(harness_->ResetReport());
    ASSERT_DONE(harness_->Inspect({.a = &*a, .b = &*b}));
    const Result<HarnessReport> report = harness_->ReadReport();
    ASSERT_DONE(report);
    inputs.checksum_a = report->checksum_a, inputs.checksum_b = report->checksum_b;

    const Launch launch = LaunchFor(pipeline.plan, gemm);
    const Binary& binary = pipeline.compilation.binary;
    const Result<GuardedWorkspace> workspace = GuardedWorkspace::Create(*gpu_, launch.workspace_bytes);
    const Result<Kernel> kernel = gpu_->Load(binary.cubin, binary.entry, launch.smem_bytes);
    ASSERT_TRUE(workspace.ok() && kernel.ok());
    ASSERT_DONE(harness_->FindNeighboursFor(launch));
    const Result<GemmParameters> parameters =
        gpu_->ParametersFor(launch, ArgumentsFor(gemm, a->data(), b->data(), c->data(), workspace->data()));
    ASSERT_DONE(parameters);
    const Watchdog watchdog(Print(gemm) + " | " + Print(pipeline.plan));
    Verifier verifier(*gpu_, *harness_);
    const auto start = [&] { return gpu_->StartGemm(*kernel, launch, *parameters, chaining); };
    const Result<Watched> watched = verifier.Watch(gemm, {&inputs, &*c, &*workspace}, 0, [&]() -> Status {
      for (int i = 0; i < launches; ++i) RETURN_IF_ERROR(start());
      return after ? after(start, *c) : OkStatus();
    });
    ASSERT_DONE(watched);
    ASSERT_EQ(watched->crash, "");
    EXPECT_EQ(watched->wrong, "");
    EXPECT_EQ(watched->damage, "");
  }

  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<HarnessKernels> harness_;
};

TEST_F(PipelineGpuTest, RandomPipelinesRunTenThousandTimesEachWithoutAHangOrAWrongElement) {
  std::vector<Pipeline> pipelines = RandomPipelines(gpu_->identity().device);
  CompileAll(pipelines);
  int chained = 0;
  for (const Pipeline& pipeline : pipelines) {
    Run(pipeline, Chaining::kNone, kLaunches);
    if (HasFatalFailure()) return;
    if (!LaunchFor(pipeline.plan, pipeline.gemm).chainable) continue;
    ++chained;
    Run(pipeline, Chaining::kProgrammatic, kLaunches);
    if (HasFatalFailure()) return;
  }
  fmt::print("{} pipelines, {} also chained, {} launches each\n", pipelines.size(), chained, kLaunches);
  EXPECT_GT(chained, 10);
}

// What compute-sanitizer watches (tools/on_gpu.sh sanitize): every parameter value of every family, whole and ragged
// tiles, few launches; a test each problem, so that several GPUs can share them.
// The last three have more tiles of 128 x 128 than there are multiprocessors and are no larger than that: racecheck
// multiplies some 10^9 times a second.
const std::vector<Gemm> kCoveredProblems = {{{256, 384, 768}},
                                            {{200, 136, 328}, {kNn, ScalarType::kBf16}},
                                            {{136, 72, 2056}, {kTn, ScalarType::kBf16}},
                                            {{17, 31, 63}, {kNn}},
                                            {{1544, 1800, 136}},
                                            {{1032, 1928, 392}},
                                            {{1536, 1544, 200}, {kNn, ScalarType::kBf16}}};

class CoveringKernels : public PipelineGpuTest, public testing::WithParamInterface<size_t> {};

TEST_P(CoveringKernels, RunOnceEach) {
  const Gemm& gemm = kCoveredProblems[GetParam()];
  std::vector<Pipeline> pipelines;
  for (const Plan& plan : InAllOrders(CoveringPlans(gemm, gpu_->identity().device, 5)))
    pipelines.push_back({gemm, plan, {}});
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    Run(pipeline, Chaining::kNone, 1);
    if (HasFatalFailure()) return;
  }
  fmt::print("{} kernels\n", pipelines.size());
  EXPECT_GT(pipelines.size(), 5u);
}

std::string ShapeInName(const testing::TestParamInfo<size_t>& problem) {
  return Print(kCoveredProblems[problem.param].shape);
}
// Of each schedule, with groups of tiles that do not come out even, a last step of K that is not whole, and two turns
// and more of a CTA.
TEST_F(PipelineGpuTest, EveryScheduleWalksBackAndForth) {
  const Gemm gemm{{3080, 3592, 328}};
  std::vector<Pipeline> pipelines;
  for (const char* words : {"schedule=pingpong tile_m=64 tile_n=64 raster=8",
                            "schedule=pingpong tile_m=128 tile_n=128 raster=n cluster_n=2",
                            "schedule=cooperative tile_m=128 tile_n=64 raster=m",
                            "schedule=cooperative tile_m=128 tile_n=256 raster=4 stages=3",
                            "schedule=cooperative tile_m=128 tile_n=256 finish=in_turn raster=4",
                            "schedule=cooperative tile_m=256 tile_n=128 finish=in_turn raster=2 cluster_m=2 stages=3",
                            "schedule=unaided tile_m=128 tile_n=64 raster=8 stages=3",
                            "schedule=unaided tile_m=192 tile_n=128 warpgroups=3 finish=in_turn raster=16 stages=4"})
    for (const char* place : {" place=any", " place=near"}) {
      const Result<Plan> plan =
          ParsePlan("wgmma store=tma_first_out walk=back_and_forth " + std::string(words) + place);
      ASSERT_DONE(plan);
      Plan onward = *plan;
      onward.Set("walk", int(Walk::kOnward)), onward.Set("store", int(Store::kBoxes)), onward.Set("place", 0);
      ASSERT_TRUE(IsLegal(onward, gemm, gpu_->identity().device)) << words;
      pipelines.push_back({gemm, *plan, {}});
    }
  EXPECT_TRUE(std::ranges::any_of(pipelines, [](const Pipeline& one) { return WgmmaPlan(one.plan).SharesStaging(); }));
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    Run(pipeline, Chaining::kNone, 3);
    if (HasFatalFailure()) return;
  }
}

// From either end, with a last step of K that is not whole, and splits of unequal steps: two launches, and three.
TEST_F(PipelineGpuTest, LaunchesThatAlternateAreRightFromEitherEnd) {
  const Gemm gemm{{200, 1096, 4168}};
  std::vector<Pipeline> pipelines;
  for (const char* words :
       {"tile_m=64 tile_n=64 warpgroups=1 stages=4", "tile_m=64 tile_n=64 warpgroups=1 stages=6 stream=b",
        "tile_m=64 tile_n=64 warpgroups=1 stages=6 stream=b keep=1/4",
        "tile_m=64 tile_n=128 warpgroups=1 stages=5 stream=b keep=1",
        "tile_m=128 tile_n=64 stages=3 stream=a keep=3/2 cluster_n=2",
        "tile_m=128 tile_n=64 stages=4 stream=b keep=3 store=tma finish=in_turn",
        "tile_m=64 tile_n=64 warpgroups=1 stages=2 step_k=128 stream=b keep=4",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 stream=b keep=6",
        "tile_m=64 tile_n=64 warpgroups=1 stages=6 stream=b keep=4 kept=lines",
        "tile_m=128 tile_n=64 stages=3 stream=a keep=1 kept=lines cluster_n=2",
        "tile_m=64 tile_n=128 roles=swapped stages=4 stream=a keep=8 kept=lines cluster_n=2",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 stream=b keep=2 split=3",
        "tile_m=64 tile_n=64 warpgroups=1 stages=resident split=8",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 stream=b keep=1 split=4 reduction=cluster cluster_n=2",
        "tile_m=64 tile_n=128 roles=swapped stages=4 stream=a keep=2 cluster_n=2"}) {
    const Result<Plan> plan = ParsePlan("wgmma fixed=all walk=alternating " + std::string(words));
    ASSERT_DONE(plan);
    Plan onward = *plan;  // all of it would stay in L2
    for (const char* word : {"walk", "stream", "keep", "kept"}) onward.Set(word, 0);
    ASSERT_TRUE(IsLegal(onward, gemm, gpu_->identity().device)) << words;
    pipelines.push_back({gemm, *plan, {}});
  }
  CompileAll(pipelines);
  // Whatever launches of others stand between two looks, some of these looks see either end.
  for (const Pipeline& pipeline : pipelines) {
    std::set<uint64_t> ends;
    for (const int last : {1, 2}) {
      Run(pipeline, Chaining::kNone, 1, [&](const std::function<Status()>& launch, const GuardedMatrix& c) -> Status {
        Verifier verifier(*gpu_, *harness_);
        for (const int launches : {0, 1, 2, 2, last}) {
          for (int i = 0; i < launches; ++i) RETURN_IF_ERROR(launch());
          ASSIGN_OR_RETURN(const uint64_t bits, verifier.Fingerprint(c));
          ends.insert(bits);
        }
        return OkStatus();
      });
      if (HasFatalFailure()) return;
    }
    // (Where splits add in order of arrival there are more.)
    const bool adds = WgmmaPlan(pipeline.plan).split > 1;
    EXPECT_TRUE(ends.size() == 2 || (adds && ends.size() > 2)) << ends.size() << ": " << Print(pipeline.plan);
  }
}

// Equal shares of a tile and others, fewer pieces than splits, tiles beside them, sums that come to where stages were;
// with edges, a last step of K that is not whole, splits of unequal steps; the same bits every time, chained or not.
TEST_F(PipelineGpuTest, SplitsThatAreAClusterComeOutRight) {
  std::vector<Pipeline> pipelines;
  for (const char* words :
       {"tile_m=64 tile_n=32 warpgroups=1 stages=4 split=2 trigger=late",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 split=3 trigger=soon",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 split=4 cluster_m=2 cluster_n=2 trigger=early",
        "tile_m=64 tile_n=128 warpgroups=1 stages=4 split=6 raster=n trigger=last",
        "tile_m=64 tile_n=128 warpgroups=1 stages=4 split=6 cluster_n=2 raster=n trigger=late",
        "tile_m=128 tile_n=64 warpgroups=1 stages=6 split=8 cluster_m=2 trigger=late",
        "tile_m=128 tile_n=64 stages=6 split=4 cluster_n=2 finish=in_turn trigger=late",
        "tile_m=128 tile_n=128 stages=7 split=4 cluster_n=4 trigger=late",
        "tile_m=128 tile_n=128 stages=7 split=3 raster=n trigger=late",
        "tile_m=64 tile_n=128 warpgroups=1 stages=resident split=12 fixed=k trigger=soon",
        "tile_m=256 tile_n=128 stages=4 split=2 cluster_n=2 trigger=soon",
        "tile_m=64 tile_n=32 warpgroups=1 stages=4 split=12 trigger=late",
        "tile_m=64 tile_n=16 warpgroups=1 stages=4 split=16 trigger=late",
        "tile_m=64 tile_n=32 warpgroups=1 stages=resident step_k=128 split=8 cluster_n=2 fixed=all trigger=late",
        "tile_m=192 tile_n=48 warpgroups=3 stages=4 split=4 fixed=k trigger=late"})
    for (const Layout& layout : {kTn, kNn}) {
      const Gemm gemm{{200, layout.b == Order::kRow ? 1096 : 1095, 4168}, {layout}};
      const Result<Plan> plan = ParsePlan("wgmma reduction=cluster " + std::string(words));
      ASSERT_DONE(plan);
      ASSERT_TRUE(IsLegal(*plan, gemm, gpu_->identity().device)) << words;
      pipelines.push_back({gemm, *plan, {}});
    }
  EXPECT_TRUE(std::ranges::any_of(
      pipelines, [](const Pipeline& one) { return WgmmaPlan(one.plan).StagingInStages(one.gemm.shape); }));
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines)
    for (const Chaining chaining : {Chaining::kNone, Chaining::kProgrammatic}) {
      std::set<uint64_t> bits;
      Run(pipeline, chaining, 1, [&](const std::function<Status()>& launch, const GuardedMatrix& c) -> Status {
        Verifier verifier(*gpu_, *harness_);
        for (const int launches : {0, 1, 500}) {
          for (int i = 0; i < launches; ++i) RETURN_IF_ERROR(launch());
          ASSIGN_OR_RETURN(const uint64_t these, verifier.Fingerprint(c));
          bits.insert(these);
        }
        return OkStatus();
      });
      if (HasFatalFailure()) return;
      EXPECT_EQ(bits.size(), 1u) << Print(pipeline.plan);
    }
}

// Tiles that whole turns leave over, or that are fewer than CTAs: in one layer to four, with CTAs that have two parts
// to six, and without; as often as makes what another launch left in the workspace matter.
TEST_F(PipelineGpuTest, TilesSharedAlongKComeOutRight) {
  if (gpu_->identity().device.multiprocessors != 132)
    GTEST_SKIP() << "the numbers of tiles are for 132 multiprocessors";
  struct Case {
    int rows, columns;  // of tiles
    const char* words;
  };
  std::vector<Pipeline> pipelines;
  for (const Case& shared : std::vector<Case>{
           {47, 4, "tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn trigger=late"},  // 56 are left
           {83, 2,
            "tile_m=256 tile_n=200 stages=3 finish=in_turn walk=back_and_forth store=tma_first_out trigger=soon"},
           {22, 8, "tile_m=128 tile_n=256 stages=4 store=tma finish=in_turn trigger=late"},
           {28, 13, "tile_m=128 tile_n=192 stages=4 store=tma place=near raster=8 trigger=late"},
           {9, 10, "tile_m=256 tile_n=176 stages=3 store=tma raster=n trigger=early"},
           {8, 13, "tile_m=192 tile_n=192 warpgroups=3 stages=3 store=tma finish=in_turn trigger=last"},
           {25, 8, "tile_m=192 tile_n=128 roles=swapped stages=4 store=tma"},
           {14, 14, "tile_m=128 tile_n=256 stages=3 store=tma trigger=late"},
           {8, 8, "tile_m=256 tile_n=192 stages=3 store=tma finish=in_turn trigger=late"},
           {11, 22, "tile_m=128 tile_n=256 stages=4 store=tma finish=in_turn step_k=64 trigger=early"},
           {8, 14, "tile_m=256 tile_n=128 stages=2 step_k=128 store=tma place=near raster=m trigger=late"}}) {
    const Result<Plan> plan = ParsePlan("wgmma schedule=cooperative ctas=shared " + std::string(shared.words));
    ASSERT_DONE(plan);
    // With edges: the last tiles reach beyond C. K is no whole number of steps, and long enough to be legal.
    const int m = shared.rows * plan->Get("tile_m") - 24, n = shared.columns * plan->Get("tile_n") - 16;
    const int k = std::max<int>(4104, int((int64_t{1} << 35) / (int64_t{m} * n) / 64 * 64 + 72));
    const Gemm gemm{{m, n, k}};
    ASSERT_TRUE(IsLegal(*plan, gemm, gpu_->identity().device)) << shared.words;
    pipelines.push_back({gemm, *plan, {}});
  }
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines)
    for (const Chaining chaining : {Chaining::kNone, Chaining::kProgrammatic}) {
      if (chaining == Chaining::kProgrammatic && !LaunchFor(pipeline.plan, pipeline.gemm).chainable) continue;
      Run(pipeline, chaining, 50);
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Problem, CoveringKernels, testing::Range(size_t{0}, kCoveredProblems.size()), ShapeInName);

// Each launch of a chain multiplies what the one before it wrote by a matrix that moves every column on by one, so that
// a single element read too early, or from a cache that still holds an earlier round, ends in the wrong place. Large
// enough for persistent CTAs with tiles of 64 x 128.
class DependentChain {
 public:
  static constexpr int kRows = 1088, kSide = 1024, kLength = 301;

  DependentChain(Gpu& gpu, const Layout& layout) : gpu_(gpu), gemm_{{kRows, kSide, kSide}, {layout}} {}
  const Gemm& gemm() const { return gemm_; }

  Status Prepare(const Launch& launch) {
    std::vector<uint16_t> first(kRows * kSide), moving(kSide * kSide);
    for (int i = 0; i < kRows * kSide; ++i) first[size_t(i)] = ValueAt(i / kSide, i % kSide);
    for (int k = 0; k < kSide; ++k) {
      const int n = (k + 1) % kSide;
      moving[size_t(gemm_.kind.layout.b == Order::kRow ? k * kSide + n : n * kSide + k)] = kOne;
    }
    for (DeviceMemory* side : {&sides_[0], &sides_[1]}) {
      ASSIGN_OR_RETURN(*side, gpu_.Allocate(first.size() * 2));
      RETURN_IF_ERROR(gpu_.CopyToDevice(side->address(), BytesOf(first)));
    }
    ASSIGN_OR_RETURN(moving_, gpu_.Allocate(moving.size() * 2));
    RETURN_IF_ERROR(gpu_.CopyToDevice(moving_.address(), BytesOf(moving)));
    ASSIGN_OR_RETURN(workspace_, gpu_.Allocate(std::max<uint64_t>(launch.workspace_bytes, 16)));
    RETURN_IF_ERROR(gpu_.Fill8(workspace_.address(), 0, workspace_.size_bytes()));
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(parameters_[size_t(i)],
                       gpu_.ParametersFor(launch, ArgumentsFor(gemm_, sides_[i].as<void>(), moving_.as<void>(),
                                                               sides_[1 - i].as<void>(), workspace_.as<void>())));
    }
    return OkStatus();
  }

  Status Run(const Kernel& kernel, const Launch& launch) {
    for (int i = 0; i < kLength; ++i)
      RETURN_IF_ERROR(gpu_.StartGemm(kernel, launch, parameters_[size_t(i % 2)], Chaining::kProgrammatic));
    return gpu_.Synchronize();
  }

  Result<int> CountMisplaced() {
    std::vector<uint16_t> last(kRows * kSide);
    RETURN_IF_ERROR(
        gpu_.CopyToHost({reinterpret_cast<uint8_t*>(last.data()), last.size() * 2}, sides_[kLength % 2].address()));
    int misplaced = 0;
    for (int i = 0; i < kRows * kSide; ++i) {
      const int from = ((i % kSide - kLength) % kSide + kSide) % kSide;
      misplaced += last[size_t(i)] != ValueAt(i / kSide, from);
    }
    return misplaced;
  }

 private:
  static constexpr uint16_t kOne = 0x3c00;
  // From 1 to below 2: a product with 1 and sums with 0 keep every bit.
  static uint16_t ValueAt(int row, int column) { return uint16_t(kOne + (row * 37 + column) % 1024); }
  static std::span<const uint8_t> BytesOf(const std::vector<uint16_t>& values) {
    return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 2};
  }

  Gpu& gpu_;
  const Gemm gemm_;
  std::array<DeviceMemory, 2> sides_;
  DeviceMemory moving_, workspace_;
  std::array<GemmParameters, 2> parameters_;
};

class ChainedLaunch : public PipelineGpuTest, public testing::WithParamInterface<Layout> {};

TEST_P(ChainedLaunch, ReadsWhatTheOneBeforeItWrote) {
  const Layout layout = GetParam();
  const Gemm gemm = DependentChain(*gpu_, layout).gemm();
  std::vector<Pipeline> pipelines;
  for (const Plan& covering : InAllOrders(CoveringPlans(gemm, gpu_->identity().device, 7)))
    for (const Trigger trigger : {Trigger::kEarly, Trigger::kSoon, Trigger::kLate, Trigger::kLast}) {
      Plan plan = covering;
      plan.Set("trigger", int(trigger));
      pipelines.push_back({gemm, plan, {}});
    }
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    SCOPED_TRACE(Print(pipeline.gemm) + " | " + Print(pipeline.plan));
    const Launch launch = LaunchFor(pipeline.plan, gemm);
    const Binary& binary = pipeline.compilation.binary;
    ASSERT_TRUE(pipeline.compilation.succeeded) << pipeline.compilation.log;
    const Result<Kernel> kernel = gpu_->Load(binary.cubin, binary.entry, launch.smem_bytes);
    ASSERT_DONE(kernel);
    ASSERT_DONE(harness_->FindNeighboursFor(launch));
    DependentChain chain(*gpu_, layout);
    ASSERT_DONE(chain.Prepare(launch));
    const Watchdog watchdog(Print(pipeline.plan));
    ASSERT_DONE(chain.Run(*kernel, launch));
    const Result<int> misplaced = chain.CountMisplaced();
    ASSERT_DONE(misplaced);
    EXPECT_EQ(*misplaced, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layout, ChainedLaunch, testing::Values(kTn, kNn),
                         [](const testing::TestParamInfo<Layout>& layout) {
                           return layout.param == kTn ? "tn" : "nn";
                         });

}  // namespace
}  // namespace gemmsmith
