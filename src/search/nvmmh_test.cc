#include "search/nvmmh.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "problem/example_device.h"
#include "program/space.h"
#include "program/wgmma/wgmma_plan.h"
#include "search/proposers.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

Gemm Problem(int m, int n, int k, Layout layout = kTn) { return {.shape = {m, n, k}, .kind = {.layout = layout}}; }

// An answer of the library for large problems: eight warps, a ring of four stages.
NvmmhConfig Large() {
  return {.tile_m = 128,
          .tile_n = 256,
          .tile_k = 64,
          .warp_m = 64,
          .warp_n = 64,
          .warp_k = 64,
          .stages = 4,
          .swizzle = 4,
          .cluster_m = 2,
          .cluster_n = 1};
}

std::optional<Plan> PlanLike(const NvmmhConfig& config, const Gemm& gemm, const Device& device) {
  return GetFamily(FamilyId::kWgmma).PlanLike(config, gemm, device);
}

WgmmaPlan Mapped(const NvmmhConfig& config, const Gemm& gemm) {
  const std::optional<Plan> plan = PlanLike(config, gemm, H200());
  EXPECT_TRUE(plan && IsWorthTrying(*plan, gemm, H200()));
  return WgmmaPlan(plan ? *plan : DefaultPlan(FamilyId::kWgmma));
}

TEST(Nvmmh, AConfigurationThatIsWorthTryingKeepsEveryAxis) {
  const WgmmaPlan plan = Mapped(Large(), Problem(8192, 8192, 4096));
  EXPECT_EQ(plan.tile_m, 128);
  EXPECT_EQ(plan.tile_n, 256);
  EXPECT_EQ(plan.step_k, 64);
  EXPECT_EQ(plan.warpgroups, 2);
  EXPECT_EQ(plan.cluster_m, 2);
  EXPECT_EQ(plan.cluster_n, 1);
  EXPECT_EQ(plan.raster, 4);
  EXPECT_EQ(plan.schedule, Schedule::kCooperative);
}

TEST(Nvmmh, OneWarpgroupATileBecomesPingPongWhereThereAreManyTiles) {
  NvmmhConfig config = Large();
  config.tile_m = 64, config.tile_n = 128;
  config.warp_n = 32;
  EXPECT_EQ(Mapped(config, Problem(8192, 8192, 4096)).schedule, Schedule::kPingPong);
  EXPECT_EQ(Mapped(config, Problem(512, 512, 4096)).schedule, Schedule::kOneTile);
}

TEST(Nvmmh, TheTileShrinksToTheProblem) {
  const WgmmaPlan plan = Mapped(Large(), Problem(64, 32, 4096));
  EXPECT_EQ(plan.tile_m, 64);
  EXPECT_EQ(plan.tile_n, 32);
  EXPECT_EQ(plan.cluster_m, 1);
  EXPECT_EQ(plan.raster, 0);
}

TEST(Nvmmh, ASplitOfSevenBecomesTheNearestThatTheFamilyHas) {
  NvmmhConfig config = Large();
  config.tile_n = 64, config.split = 7;
  EXPECT_EQ(Mapped(config, Problem(512, 64, 16384)).split, 8);
}

TEST(Nvmmh, AsManyStagesAsThereIsMemoryFor) {
  NvmmhConfig config = Large();
  config.stages = 12;
  const WgmmaPlan plan = Mapped(config, Problem(8192, 8192, 4096));
  EXPECT_LT(plan.stages, 12);
  EXPECT_GE(plan.stages, 3);
}

TEST(Nvmmh, EveryRasterOfTheLibraryIsOneOfOurs) {
  NvmmhConfig config = Large();
  config.swizzle = 1;
  EXPECT_EQ(Mapped(config, Problem(8192, 8192, 4096)).raster, 1);
  config.along_m = true;
  EXPECT_EQ(Mapped(config, Problem(8192, 8192, 4096)).raster, 0);
}

TEST(Nvmmh, ProblemsOfOtherFamiliesHaveNoPlan) {
  EXPECT_EQ(PlanLike(Large(), Problem(512, 512, 513), H200()), std::nullopt);
  EXPECT_EQ(PlanLike(Large(), Problem(512, 512, 512), *FindDevice("a100")), std::nullopt);
}

TEST(Nvmmh, ConfigurationsThatBecomeOnePlanAreProposedOnceInTheLibrarysOrder) {
  const Gemm gemm = Problem(8192, 8192, 4096);
  NvmmhConfig same = Large(), other = Large();
  same.warp_k = 32, same.warp_n = 128;
  other.tile_n = 128;
  const NvmmhConfig configs[] = {Large(), same, other};
  const std::vector<Plan> plans = PlansLike(configs, gemm, H200());
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(WgmmaPlan(plans[0]).tile_n, 256);
  EXPECT_EQ(WgmmaPlan(plans[1]).tile_n, 128);
}

TEST(Nvmmh, ProposesTheNearestPlansOfTheSpaceInTheLibrarysOrderAndThenNone) {
  const Gemm gemm = Problem(4096, 4096, 4096);
  const Space space(RankedPlans(gemm, H200(), 64));
  NvmmhConfig small = Large();
  small.tile_m = 64, small.tile_n = 64;
  const NvmmhConfig configs[] = {small, Large(), small};
  const std::unique_ptr<Proposer> proposer =
      MakeNvmmhProposer({.gemm = gemm, .device = H200(), .space = &space}, configs);
  const std::vector<Plan> first = proposer->Propose(1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(space.Contains(first[0]));
  EXPECT_EQ(first[0], *NearestOf(space.plans(), *PlanLike(small, gemm, H200()), gemm, H200()));
  EXPECT_LE(proposer->Propose(16).size(), 1u);
  EXPECT_TRUE(proposer->Propose(16).empty());
}

TEST(Nvmmh, ProposesNoRecordedPlanThatIsIllegal) {
  const Gemm gemm = Problem(8192, 8192, 4096);
  const Plan wanted = *PlanLike(Large(), gemm, H200());
  Plan illegal = wanted, other = wanted;
  illegal.Set("warpgroups", 4);
  other.Set("tile_n", 128);
  const Space space({illegal, other});
  const NvmmhConfig configs[] = {Large()};
  const std::vector<Plan> plans =
      MakeNvmmhProposer({.gemm = gemm, .device = H200(), .space = &space}, configs)->Propose(4);
  EXPECT_EQ(plans, std::vector<Plan>{other});
}

TEST(Nvmmh, NearestPrefersTheTileToTheStages) {
  const Gemm gemm = Problem(8192, 8192, 4096);
  const Plan wanted = *PlanLike(Large(), gemm, H200());
  Plan other_tile = wanted, other_stages = wanted;
  other_tile.Set("tile_n", 128);
  other_stages.Set("stages", 2);
  const Plan plans[] = {other_tile, other_stages, DefaultPlan(FamilyId::kDirect)};
  EXPECT_EQ(NearestOf(plans, wanted, gemm, H200()), &plans[1]);
  EXPECT_EQ(NearestOf(std::span(plans).last(1), wanted, gemm, H200()), nullptr);
}

TEST(Nvmmh, WhereItIsNotInstalledOneLineNamesTheRemedy) {
  const char* const before = std::getenv("GEMMSMITH_NVMMH");
  const std::string path = before == nullptr ? "" : before;  // an empty one counts as not set
  setenv("GEMMSMITH_NVMMH", "/nowhere/lib.so", 1);
  const Status missing = FindNvmmh().status();
  setenv("GEMMSMITH_NVMMH", path.c_str(), 1);
  EXPECT_EQ(missing.code(), StatusCode::kUnavailable);
  EXPECT_NE(missing.message().find("GEMMSMITH_NVMMH"), std::string::npos);
}

TEST(Nvmmh, RefusesOtherDevicesLayoutsAndAccumulations) {
  const auto refusal = [](const Gemm& gemm, std::string_view device) {
    return AskNvmmh(gemm, *FindDevice(device), 8).status().message();
  };
  EXPECT_NE(refusal(Problem(512, 512, 512), "a100").find("not for NVIDIA A100"), std::string::npos);
  EXPECT_NE(refusal(Problem(512, 512, 512, {Order::kColumn, Order::kRow}), "h200").find("col-row"), std::string::npos);
  Gemm narrow = Problem(512, 512, 512);
  narrow.kind.accumulation = Accumulation::kF16;
  EXPECT_NE(refusal(narrow, "h200").find("f32"), std::string::npos);
}

TEST(NvmmhLibrary, AnswersForSomeShapesWithPlansThatAreWorthTrying) {
  if (const Result<std::filesystem::path> library = FindNvmmh(); !library.ok())
    GTEST_SKIP() << library.status().message();
  for (const Layout layout : {kNn, kTn})
    for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
      for (const Shape shape :
           {Shape{256, 512, 4096}, Shape{8192, 8192, 4096}, Shape{64, 64, 8192}, Shape{64, 64, 64}}) {
        const Gemm gemm{.shape = shape, .kind = {.layout = layout, .type = type}};
        const Result<std::vector<NvmmhConfig>> configs = AskNvmmh(gemm, H200(), 16);
        ASSERT_TRUE(configs.ok()) << configs.status().message();
        EXPECT_FALSE(configs->empty()) << Print(gemm);
        const std::vector<Plan> plans = PlansLike(*configs, gemm, H200());
        EXPECT_FALSE(plans.empty()) << Print(gemm);
        for (const Plan& plan : plans) EXPECT_TRUE(IsWorthTrying(plan, gemm, H200())) << Print(plan);
      }
}

}  // namespace
}  // namespace gemmsmith
