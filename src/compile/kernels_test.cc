// Machine code of every family, on every architecture that it is legal for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/all_cores.h"
#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/compiler.h"
#include "compile/some_kernels.h"
#include "program/covering.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

// Compiles on every core. The cache is kept from run to run.
std::vector<std::pair<Plan, Compilation>> Compiled(const std::vector<Plan>& plans, const Gemm& gemm,
                                                   const Device& device) {
  static const std::filesystem::path folder = std::filesystem::temp_directory_path() / "gemmsmith_kernels_test";
  Result<std::unique_ptr<Compiler>> nvrtc = MakeNvrtcCompiler();
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.status().message();
  if (!nvrtc.ok()) return {};
  const std::unique_ptr<Compiler> compiler = MakeCachedCompiler(*std::move(nvrtc), folder);
  std::vector<std::pair<Plan, Compilation>> compiled;
  for (const Plan& plan : plans) compiled.emplace_back(plan, Compilation{});
  ForEachOnAllCores(compiled.size(), [&](size_t at) {
    compiled[at].second = *compiler->Compile(Emit(compiled[at].first, gemm), device.Architecture());
  });
  return compiled;
}

std::vector<Plan> CoveringPlansOf(FamilyId family, const Gemm& gemm, const Device& device, uint64_t seed) {
  std::vector<Plan> plans = CoveringPlans(gemm, device, seed);
  std::erase_if(plans, [&](const Plan& plan) { return plan.family != family; });
  return plans;
}

// Each problem keeps another share of the plans.
std::vector<Plan> ShareOf(const std::vector<Plan>& plans, const Gemm& gemm) {
  return OneOf(OneKernelOf(8), plans, std::hash<std::string>{}(Print(gemm)));
}

class DirectOnEveryDevice : public testing::TestWithParam<std::string> {};

TEST_P(DirectOnEveryDevice, CoveringPlansCompileToF32MatrixInstructionsAndStayInRegisters) {
  const Device device = *FindDevice(GetParam());
  int plans = 0, spilling = 0;
  for (uint64_t seed = 2; seed < 14; seed += OneKernelOf(3)) {
    const Gemm gemm = seed % 2 == 0 ? Gemm{{64, 64, 2048}} : Gemm{{17, 31, 63}, {kNn, ScalarType::kBf16}};
    for (const auto& [plan, compilation] :
         Compiled(CoveringPlansOf(FamilyId::kDirect, gemm, device, seed), gemm, device)) {
      ASSERT_TRUE(compilation.succeeded) << Print(plan) << "\n" << compilation.log;
      const CodeFacts& facts = compilation.binary.facts;
      EXPECT_EQ(compilation.log, "") << Print(plan);
      EXPECT_EQ(facts.local_bytes > 0, facts.local_memory_instructions > 0) << Print(plan);
      ++plans;
      spilling += facts.local_bytes > 0;
      EXPECT_GT(facts.mma_f32, 0) << Print(plan);
      EXPECT_EQ(facts.mma_f16 + facts.wgmma_f16, 0) << Print(plan);
    }
  }
  EXPECT_GT(plans, 20);
  // ptxas sometimes needs a few registers more than the estimate of Check(), more often for sm_120. Such a plan ends as
  // kResourceOver.
  EXPECT_LE(spilling, 1 + plans / (device.compute_major < 12 ? 20 : 5));
}
INSTANTIATE_TEST_SUITE_P(, DirectOnEveryDevice, testing::Values("a100", "l40s", "h200", "rtx5090"),
                         [](const auto& device) { return device.param; });

TEST(WidestTile, StaysInRegisters) {
  const Gemm gemm{{8192, 8192, 4096}};
  const Device device = *FindDevice("h200");
  std::vector<Plan> plans;
  for (const char* words : {"raster=8", "cluster_m=2 raster=4 fixed=all", "cluster_n=2 raster=8"})
    plans.push_back(*ParsePlan(fmt::format(
        "wgmma tile_m=256 tile_n=208 schedule=cooperative finish=in_turn stages=3 store=tma trigger=late {}", words)));
  for (const auto& [plan, compilation] : Compiled(plans, gemm, device)) {
    EXPECT_TRUE(IsWorthTrying(plan, gemm, device)) << Print(plan);
    ASSERT_TRUE(compilation.succeeded) << Print(plan) << "\n" << compilation.log;
    EXPECT_EQ(compilation.log, "") << Print(plan);
    EXPECT_EQ(compilation.binary.facts.local_bytes, 0) << Print(plan);
  }
}

// The log must be empty. A wgmma that ptxas serialises costs a third of the speed, and only the log tells.
class WgmmaKernelsOf : public testing::TestWithParam<Gemm> {};

TEST_P(WgmmaKernelsOf, CoveringPlansCompileWithoutAWarningToF32MatrixInstructionsAndStayInRegisters) {
  const Device device = *FindDevice("h200");
  const std::vector<Plan> covering = CoveringPlansOf(FamilyId::kWgmma, GetParam(), device, 2);
  EXPECT_GT(covering.size(), 20u);
  for (const auto& [plan, compilation] : Compiled(ShareOf(covering, GetParam()), GetParam(), device)) {
    ASSERT_TRUE(compilation.succeeded) << Print(plan) << "\n" << compilation.log;
    const CodeFacts& facts = compilation.binary.facts;
    EXPECT_EQ(compilation.log, "") << Print(plan);
    EXPECT_EQ(facts.local_bytes + facts.local_memory_instructions, 0) << Print(plan);
    EXPECT_GT(facts.wgmma_f32, 0) << Print(plan);
    EXPECT_EQ(facts.wgmma_f16 + facts.mma_f16 + facts.mma_f32, 0) << Print(plan);
  }
}
INSTANTIATE_TEST_SUITE_P(, WgmmaKernelsOf,
                         testing::Values(Gemm{{512, 1024, 4096}}, Gemm{{1000, 1032, 264}, {kNn, ScalarType::kBf16}},
                                         Gemm{{4096, 4096, 512}, {kNn}},
                                         Gemm{{200, 2045, 1032}, {kTn, ScalarType::kBf16}},
                                         Gemm{{1024, 1040, 4100}, {kColumnRow}},
                                         Gemm{{3072, 4096, 520}, {kColumnRow, ScalarType::kBf16}},
                                         Gemm{{1000, 1032, 2056}, {kColumnColumn}}),
                         [](const auto& problem) {
                           const Shape shape = problem.param.shape;
                           return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
                         });

// Every schedule, reduction and finish, straight and swapped. Odd multiples of 8, the narrowest and the widest tile
// have rows of their own in wgmma.cuh.
constexpr const char* kPlansOfF16Sums[] = {
    "direct tile_m=32 tile_n=16 warps_k=4",
    "direct tile_m=16 tile_n=32 warps_k=8 chunks=2",
    "wgmma tile_m=128 tile_n=256 stages=4",
    "wgmma tile_m=192 tile_n=128 warpgroups=3 store=tma finish=in_turn",
    "wgmma tile_m=64 tile_n=8 warpgroups=1 stages=resident split=4",
    "wgmma tile_m=64 tile_n=72 warpgroups=1 split=2 reduction=cluster",
    "wgmma tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=exchange",
    "wgmma tile_m=24 tile_n=64 roles=swapped warpgroups=1 split=4 store=tma",
    "wgmma tile_m=128 tile_n=192 schedule=pingpong store=tma cluster_m=2",
    "wgmma tile_m=120 tile_n=128 roles=swapped schedule=pingpong store=tma",
    "wgmma tile_m=256 tile_n=128 schedule=cooperative stages=3 store=tma finish=in_turn",
    "wgmma tile_m=128 tile_n=256 schedule=cooperative stages=4 store=tma finish=in_turn",
    "wgmma tile_m=256 tile_n=144 schedule=cooperative stages=4 store=tma finish=in_turn",
    "wgmma tile_m=192 tile_n=192 schedule=cooperative warpgroups=3 stages=4 store=tma finish=in_turn",
};

TEST(KernelsOfF16Sums, HaveMatrixInstructionsThatAddInF16AndNoOthers) {
  const Device device = *FindDevice("h200");
  const std::unique_ptr<Compiler> compiler = *MakeNvrtcCompiler();
  std::vector<Compilation> compiled(std::size(kPlansOfF16Sums));
  const auto problem = [](const Plan& plan) {
    const bool many_tiles = plan.family == FamilyId::kWgmma && plan.Get("schedule") != 0;
    return Gemm{many_tiles ? Shape{4096, 4096, 512} : Shape{256, 256, 4096},
                {kTn, ScalarType::kF16, Accumulation::kF16}};
  };
  ForEachOnAllCores(compiled.size(), [&](size_t at) {
    const Plan plan = *ParsePlan(kPlansOfF16Sums[at]);
    compiled[at] = *compiler->Compile(Emit(plan, problem(plan)), device.Architecture());
  });
  for (size_t i = 0; i < compiled.size(); ++i) {
    const Plan plan = *ParsePlan(kPlansOfF16Sums[i]);
    const CodeFacts& facts = compiled[i].binary.facts;
    EXPECT_EQ(Join(Check(plan, problem(plan), device), "; "), "") << Print(plan);
    ASSERT_TRUE(compiled[i].succeeded) << Print(plan) << "\n" << compiled[i].log;
    EXPECT_EQ(compiled[i].log, "") << Print(plan);
    EXPECT_EQ(facts.local_bytes + facts.local_memory_instructions, 0) << Print(plan);
    EXPECT_GT(plan.family == FamilyId::kDirect ? facts.mma_f16 : facts.wgmma_f16, 0) << Print(plan);
    EXPECT_EQ(facts.mma_f32 + facts.wgmma_f32, 0) << Print(plan);
  }
}

// ptxas knows no wgmma of a width with too many or too few registers.
TEST(KernelsOfF16Sums, ThereIsAnInstructionOfEveryWidth) {
  constexpr std::string_view kKernel = R"(
using namespace gemmsmith;
extern "C" __global__ void kernel(u32* c, u64 a, u64 b) {
  AccumulatorsOf<F16, kColumns / 2> accumulators;
  FenceWgmma();
  Wgmma<F16, F16, false, false, kColumns>::MultiplyAdd(accumulators, a, b, 0);
  CommitWgmma();
  WaitWgmma<0>();
  SettleSums(accumulators);
  for (u32 pair : accumulators) *c++ = pair;
})";
  const std::unique_ptr<Compiler> compiler = *MakeNvrtcCompiler();
  ForEachOnAllCores(32, [&](size_t at) {
    const std::string text = fmt::format(
        "#include \"accumulators.cuh\"\n#include \"wgmma.cuh\"\nconstexpr int kColumns = {};{}", 8 * (at + 1), kKernel);
    const Compilation compilation = *compiler->Compile({text, "kernel"}, "sm_90a");
    EXPECT_TRUE(compilation.succeeded) << text << compilation.log;
    EXPECT_EQ(compilation.binary.facts.wgmma_f16, 1) << text;
  });
}

// The tests above would see this: sums that are touched between two matrix instructions.
TEST(WgmmaKernels, ASerialisedLoopIsNamedInTheCompilersLog) {
  const std::string text =
      "#include \"wgmma.cuh\"\n"
      R"(
using namespace gemmsmith;
extern "C" __global__ void touched(float* c, u64 a, u64 b, int n) {
  float sums[4] = {c[0], c[1], c[2], c[3]};
  for (int i = 0; i < n; ++i) {
    FenceWgmma();
    Wgmma<F16, float, false, false, 8>::MultiplyAdd(sums, a, b, 1);
    CommitWgmma();
    WaitWgmma<1>();
    sums[0] += 1;
  }
  WaitWgmma<0>();
  for (int i = 0; i < 4; ++i) c[i] = sums[i];
})";
  const Compilation compilation = *(*MakeNvrtcCompiler())->Compile({text, "touched"}, "sm_90a");
  ASSERT_TRUE(compilation.succeeded) << compilation.log;
  EXPECT_NE(compilation.log.find("serialized"), std::string::npos) << compilation.log;
}

// nvcc is slow and needs a host compiler: one plan a kernel template, with everything in it.
struct NamedPlan {
  std::string name, text;
  GemmKind kind = {kNn, ScalarType::kBf16};
};
class Standalone : public testing::TestWithParam<NamedPlan> {};

TEST_P(Standalone, CompilesWithNvccAsOneFile) {
  const std::optional<std::filesystem::path> nvcc = FindProgram("nvcc");
  if (!nvcc) GTEST_SKIP() << "no nvcc";
  const TemporaryFolder folder = *TemporaryFolder::Create("standalone");
  const Gemm gemm{{64, 64, 2048}, GetParam().kind};
  const std::filesystem::path source = folder.path() / "gemm.cu";
  ASSERT_TRUE(WriteFileAtomic(source, EmitStandalone(*ParsePlan(GetParam().text), gemm)).ok());
  const ProcessResult result =
      *RunProcess({nvcc->string(), "-std=c++17", "-Werror=all-warnings", "-gencode", "arch=compute_90a,code=sm_90a",
                   "-c", source.string(), "-o", (folder.path() / "gemm.o").string()},
                  std::chrono::seconds(120));
  EXPECT_EQ(result.exit_code, 0) << result.output;
}
INSTANTIATE_TEST_SUITE_P(
    , Standalone,
    testing::Values(
        NamedPlan{"direct", "direct warps_k=4 chunks=2"},
        NamedPlan{"wgmma", "wgmma tile_m=64 tile_n=32 warpgroups=1 stages=2 split=4 store=tma"},
        NamedPlan{"wgmma_persistent", "wgmma tile_n=192 schedule=pingpong stages=2 cluster_m=2 store=tma"},
        NamedPlan{"wgmma_swapped", "wgmma tile_m=24 tile_n=64 roles=swapped warpgroups=1 stages=2 split=4 store=tma"},
        NamedPlan{"wgmma_persistent_swapped",
                  "wgmma tile_m=96 roles=swapped schedule=pingpong stages=2 cluster_m=2 store=rows"},
        NamedPlan{"wgmma_in_turn", "wgmma tile_n=256 stages=4 store=tma finish=in_turn"},
        NamedPlan{"wgmma_persistent_in_turn",
                  "wgmma tile_n=192 schedule=cooperative stages=3 store=tma finish=in_turn"},
        NamedPlan{"wgmma_shared_staging", "wgmma tile_n=256 schedule=cooperative stages=4 store=tma finish=in_turn"},
        NamedPlan{"wgmma_even_waves", "wgmma tile_n=256 schedule=cooperative stages=3 store=tma_first_out ctas=even"},
        NamedPlan{"direct_f16_sums", "direct warps_k=2", {kTn, ScalarType::kF16, Accumulation::kF16}},
        NamedPlan{"wgmma_f16_sums",
                  "wgmma tile_n=192 schedule=pingpong stages=2 store=tma",
                  {kNn, ScalarType::kF16, Accumulation::kF16}},
        NamedPlan{"wgmma_stream", "wgmma tile_m=64 tile_n=32 warpgroups=1 stages=2 cluster_m=2 stream=b"},
        NamedPlan{"wgmma_exchange", "wgmma tile_m=64 tile_n=32 warpgroups=1 stages=2 split=4 reduction=exchange"}),
    [](const auto& plan) { return plan.param.name; });

}  // namespace
}  // namespace gemmsmith
