// The families' kernels under load. Barriers, rings and clusters that hang or corrupt do so once in thousands of
// launches, so each of many random pipelines runs ten thousand times.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "evaluate/pipeline_test_fixture.h"
#include "program/covering.h"
#include "program/family.h"
#include "program/legality.h"
#include "program/random_plan.h"
#include "program/space.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {
namespace {

constexpr int kPipelines = 72, kLaunches = 10'000;

// Small tiles and short runs, so that launches and stages fill the time. Persistent CTAs get more tiles and less k.
// Plans that share their staging have the largest tiles.
Gemm RandomGemm(Random& random, bool is_persistent, bool shares_staging) {
  const int least = shares_staging ? 30 : is_persistent ? 12 : 1;
  const int most_more = is_persistent ? 20 : 6, most_steps = is_persistent ? 6 : 40;
  const auto side = [&] { return int(64 * (least + random.Below(uint64_t(most_more)))); };
  const int m = side(), n = side();
  const int k = 64 * int(1 + random.Below(uint64_t(most_steps))) + (random.Below(4) == 0 ? 8 : 0);
  return {{m, n, k}, {kLayouts[random.Below(std::size(kLayouts))]}};
}

// A third of them is persistent, and every third of these shares its staging. A quarter and those have a staggered
// epilogue: one wait more in which to hang. Every second persistent plan stores evict-first, as its epilogue rarely
// does in plans worth trying.
std::vector<Pipeline> RandomPipelines(const Device& device) {
  Random random(20261121);
  const Family& family = GetFamily(FamilyId::kWgmma);
  const auto any_of = [&](WgmmaAxis::Index axis, const auto& is_wanted) -> AxisValue {
    std::vector<int> wanted;
    for (const int value : family.axes[axis].live_values())
      if (is_wanted(value)) wanted.push_back(value);
    return {axis, wanted[random.Below(wanted.size())]};
  };
  std::vector<Pipeline> pipelines;
  while (pipelines.size() < kPipelines) {
    const size_t count = pipelines.size();
    const bool is_persistent = count % 3 == 2, shares_staging = is_persistent && count / 3 % 3 == 1;
    const Gemm gemm = RandomGemm(random, is_persistent, shares_staging);
    std::vector<AxisValue> settings{any_of(WgmmaAxis::kSchedule, [&](int value) {
      if (shares_staging) return value == int(Schedule::kCooperative);
      return (value != int(Schedule::kOneTile)) == is_persistent;
    })};
    if (count % 4 == 3 || shares_staging) settings.push_back({WgmmaAxis::kFinish, 1});
    std::optional<Plan> plan = RandomPlan(family, settings, gemm, device, random);
    if (!plan || (shares_staging && !WgmmaPlan(*plan).HasStoreWarp())) continue;
    if (is_persistent && count % 2 == 0 && WgmmaPlan(*plan).store == Store::kTma)
      plan->values[WgmmaAxis::kStore] = int(Store::kTmaFirstOut);
    pipelines.push_back({gemm, *plan, {}});
  }
  return pipelines;
}

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

// Compute-sanitizer watches these (tools/on_gpu.sh sanitize): every live value of every axis, whole and ragged tiles,
// few launches. Several GPUs can share them by problem. The last five have just more tiles of 128 x 128 than there are
// multiprocessors, because racecheck multiplies some 10^9 times a second.
const std::vector<Gemm> kCoveredProblems = {{{256, 384, 768}},
                                            {{200, 136, 328}, {kNn, ScalarType::kBf16}},
                                            {{136, 72, 2056}, {kTn, ScalarType::kBf16}},
                                            {{17, 31, 63}, {kNn}},
                                            {{256, 392, 763}, {kColumnRow}},
                                            {{72, 200, 520}, {kColumnColumn, ScalarType::kBf16}},
                                            {{1544, 1800, 136}},
                                            {{1032, 1928, 392}},
                                            {{1536, 1544, 200}, {kNn, ScalarType::kBf16}},
                                            {{1544, 1672, 200}, {kColumnRow, ScalarType::kBf16}},
                                            {{1672, 1544, 136}, {kColumnColumn}}};

class CoveringKernels : public PipelineGpuTest, public testing::WithParamInterface<size_t> {};

TEST_P(CoveringKernels, RunOnceEach) {
  const Gemm& gemm = kCoveredProblems[GetParam()];
  std::vector<Pipeline> pipelines;
  for (const Plan& plan : CoveringPlans(gemm, gpu_->identity().device, 5)) pipelines.push_back({gemm, plan, {}});
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

INSTANTIATE_TEST_SUITE_P(Problem, CoveringKernels, testing::Range(size_t{0}, kCoveredProblems.size()), ShapeInName);

// Groups of tiles that do not come out even, a partial last step of K, and two waves and more.
TEST_F(PipelineGpuTest, EveryPersistentScheduleStoresEvictFirstOverSeveralWaves) {
  const Gemm gemm{{3080, 3592, 328}};
  std::vector<Pipeline> pipelines;
  for (const char* words : {"schedule=pingpong tile_m=64 tile_n=64 raster=8",
                            "schedule=pingpong tile_m=128 tile_n=128 raster=n cluster_n=2",
                            "schedule=cooperative tile_m=128 tile_n=64 raster=m",
                            "schedule=cooperative tile_m=128 tile_n=256 raster=4 stages=3",
                            "schedule=cooperative tile_m=128 tile_n=256 finish=in_turn raster=4",
                            "schedule=cooperative tile_m=256 tile_n=128 finish=in_turn raster=2 cluster_m=2 stages=3",
                            "schedule=cooperative tile_m=192 tile_n=128 warpgroups=3 finish=in_turn raster=16"}) {
    const Result<Plan> plan = ParsePlan("wgmma store=tma_first_out " + std::string(words));
    ASSERT_DONE(plan);
    ASSERT_TRUE(IsLegal(*plan, gemm, gpu_->identity().device)) << words;
    pipelines.push_back({gemm, *plan, {}});
  }
  EXPECT_TRUE(std::ranges::any_of(pipelines, [](const Pipeline& one) { return WgmmaPlan(one.plan).HasStoreWarp(); }));
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    Run(pipeline, Chaining::kNone, 3);
    if (HasFatalFailure()) return;
  }
}

// A pair of operands of 18 MB at most stays in L2, so its hints are advised against. They must not change the result.
TEST_F(PipelineGpuTest, StreamedOperandsComeOutRight) {
  const Gemm gemm{{200, 1096, 4168}};
  std::vector<Pipeline> pipelines;
  for (const char* words :
       {"tile_m=64 tile_n=64 warpgroups=1 stages=6 stream=b", "tile_m=64 tile_n=128 warpgroups=1 stages=5 stream=b",
        "tile_m=128 tile_n=64 stages=3 stream=a cluster_n=2",
        "tile_m=128 tile_n=64 stages=4 stream=b store=tma finish=in_turn",
        "tile_m=64 tile_n=64 warpgroups=1 stages=2 step_k=128 stream=b",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 stream=b split=3",
        "tile_m=64 tile_n=64 warpgroups=1 stages=4 stream=b split=4 reduction=cluster cluster_n=2",
        "tile_m=64 tile_n=128 roles=swapped stages=4 stream=a cluster_n=2"}) {
    const Result<Plan> plan = ParsePlan("wgmma fixed=all " + std::string(words));
    ASSERT_DONE(plan);
    ASSERT_TRUE(IsLegal(*plan, gemm, gpu_->identity().device)) << words;
    pipelines.push_back({gemm, *plan, {}});
  }
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    Run(pipeline, Chaining::kNone, 3);
    if (HasFatalFailure()) return;
  }
}

// One compilation of plans of kernels/general.plans, launched for shapes that it was not compiled for: fewer rows than
// a tile, several waves, a K of few and of many steps.
TEST_F(PipelineGpuTest, OneKernelWithoutDimensionsServesManyShapes) {
  std::vector<Pipeline> compiled;
  for (const char* words :
       {"tile_m=16 tile_n=64 roles=swapped warpgroups=1 step_k=128 stages=5 cluster_n=2 split=2 reduction=cluster "
        "stream=b",
        "tile_m=32 tile_n=64 roles=swapped warpgroups=1 step_k=128 stages=8 stream=b",
        "tile_m=64 tile_n=64 warpgroups=1 stages=7 cluster_m=2 split=3 reduction=cluster",
        "tile_m=64 tile_n=256 warpgroups=1 stages=5 store=tma stream=b",
        "tile_m=128 tile_n=128 schedule=pingpong stages=6 store=tma raster=8 ctas=even",
        "tile_m=128 tile_n=256 schedule=cooperative cluster_m=2 store=tma raster=8 ctas=even finish=in_turn"})
    for (const Layout& layout : kLayouts) {
      const Result<Plan> plan = ParsePlan("wgmma " + std::string(words));
      ASSERT_DONE(plan);
      compiled.push_back({{{264, 264, 1032}, {layout}}, *plan, {}});
    }
  CompileAll(compiled);
  int served = 0;
  for (Pipeline pipeline : compiled) {
    const std::string text = Emit(pipeline.plan, pipeline.gemm).text;
    for (const Shape& shape : {Shape{8, 136, 520}, {200, 1096, 4168}, {1544, 3336, 392}}) {
      pipeline.gemm.shape = shape;
      if (!IsLegal(pipeline.plan, pipeline.gemm, gpu_->identity().device)) continue;
      ASSERT_EQ(Emit(pipeline.plan, pipeline.gemm).text, text);
      ++served;
      Run(pipeline, Chaining::kNone, 3);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(served, 60);
}

// ---- plans that are legal and not worth trying ----

// Small, ragged, one row of tiles, several waves.
const std::vector<Gemm> kAdvisedProblems = {{{256, 384, 768}, {kTn}},       {{200, 136, 328}, {kNn, ScalarType::kBf16}},
                                            {{60, 2056, 520}, {kTn}},       {{17, 2048, 72}, {kNn}},
                                            {{1544, 1800, 136}, {kTn}},     {{2048, 2056, 200}, {kNn}},
                                            {{200, 264, 516}, {kColumnRow}}};
constexpr size_t kAdvisedPlans = 10;  // of each problem

// The advice without its numbers.
std::string KindOf(const std::vector<std::string>& advice) {
  std::string kind;
  for (const std::string& reason : advice) kind += reason + "; ";
  std::erase_if(kind, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
  return kind;
}

// Walks from plans worth trying until the advice differs from that of all plans before. The plans must stay legal.
std::map<std::string, Plan> AdvisedPlans(const Gemm& gemm, const Device& device, Random& random) {
  constexpr int kTries = 20'000;
  const std::vector<Plan> covering = CoveringPlans(gemm, device, 11);
  std::map<std::string, Plan> plans;
  for (int i = 0; i < kTries && !covering.empty() && plans.size() < kAdvisedPlans; ++i) {
    const Plan plan = Mutate(covering[random.Below(covering.size())], random);
    if (!IsLegal(plan, gemm, device) || IsWorthTrying(plan, gemm, device)) continue;
    plans.emplace(KindOf(Advise(plan, gemm, device)), plan);
  }
  return plans;
}

TEST_F(PipelineGpuTest, PlansThatAreLegalAndNotWorthTryingComeOutRight) {
  Random random(5);
  std::vector<Pipeline> pipelines;
  std::set<std::string> kinds;
  for (const Gemm& gemm : kAdvisedProblems)
    for (const auto& [kind, plan] : AdvisedPlans(gemm, gpu_->identity().device, random)) {
      kinds.insert(kind);
      pipelines.push_back({gemm, plan, {}});
    }
  EXPECT_EQ(pipelines.size(), kAdvisedProblems.size() * kAdvisedPlans);
  EXPECT_GT(kinds.size(), 20u);
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines)
    for (const Chaining chaining : {Chaining::kNone, Chaining::kProgrammatic}) {
      if (chaining == Chaining::kProgrammatic && !LaunchFor(pipeline.plan, pipeline.gemm).chainable) continue;
      Run(pipeline, chaining, 3);
      if (HasFatalFailure()) return;
    }
}

// ---- splits ----

// Equal and unequal shares of a tile, fewer pieces than splits, several tiles in a cluster, sums in the stages' memory.
// Edges, a partial last step of K, splits of unequal steps. The bits are the same every time, chained or not.
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
    for (const Layout& layout : kLayouts) {
      const Gemm gemm{{200, layout == kTn ? 1095 : 1096, 4168}, {layout}};
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

}  // namespace
}  // namespace gemmsmith
