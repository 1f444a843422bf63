#include "program/wgmma/wgmma_plan.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "program/covering.h"
#include "program/space.h"
#include "program/wgmma/example_plans.h"

namespace gemmsmith {
namespace {

// ---- threads and registers ----

TEST(PersistentPlan, HasAProducerWarpOrWhereSumsNeedTheRegistersAProducerWarpgroup) {
  EXPECT_EQ(Typed("schedule=cooperative").threads(), 256 + 32);
  EXPECT_FALSE(Typed("schedule=cooperative").MovesRegisters()) << "64 sums a thread";
  EXPECT_EQ(Typed("schedule=pingpong").threads(), 256 + 32) << "128 sums a thread";
  const WgmmaPlan wide = Typed("schedule=pingpong tile_n=192");
  EXPECT_TRUE(wide.MovesRegisters()) << "192 sums a thread";
  EXPECT_EQ(wide.threads(), 256 + 128);
  EXPECT_LE(128 * wide.ProducerRegisters() + 256 * wide.ConsumerRegisters(), 65536);
  const WgmmaPlan three = Typed("schedule=cooperative tile_m=192 tile_n=192 warpgroups=3");
  EXPECT_LE(128 * three.ProducerRegisters() + 384 * three.ConsumerRegisters(), 65536);
}

TEST(PersistentPlan, WarpgroupsOfPingPongHoldAWholeTileEach) {
  EXPECT_EQ(Typed("schedule=cooperative").sums_per_thread(), 64);
  EXPECT_EQ(Typed("schedule=pingpong").sums_per_thread(), 128);
  EXPECT_EQ(Typed("schedule=pingpong").team(), 1);
}

// ---- staging and shared memory ----

// The epilogue cannot reuse the stages, because they hold the next tile by then.
TEST(PersistentPlan, StagesCBesideTheRing) {
  const Shape shape{8192, 8192, 8192};
  const WgmmaPlan roomy = Typed("schedule=cooperative stages=5"), tight = Typed("schedule=pingpong stages=6");
  EXPECT_EQ(roomy.SmemBytes(shape), 1024 + 5 * 32768 + 128 * (128 + 8) * 2);
  EXPECT_EQ(tight.StagedBlocks(), 1) << "two warpgroups with two blocks of 64 rows each would not fit";
  EXPECT_EQ(tight.SmemBytes(shape), 1024 + 6 * 32768 + 128 * (128 + 8) * 2);
  EXPECT_EQ(Typed("schedule=pingpong stages=3").StagedBlocks(), 2);
  EXPECT_FALSE(tight.StagingInStages(shape));
}

// A fourth stage of 48 KB leaves room for the rows of one warpgroup of two.
TEST(PersistentPlan, SharesStagingAndHasAStoreWarpWhereWarpgroupsStaggerAndThereIsNoRoomForAll) {
  const Shape shape{8192, 8192, 8192};
  const std::string wide = "tile_n=256 schedule=cooperative store=tma finish=in_turn stages=";
  EXPECT_FALSE(Typed(wide + "3").HasStoreWarp());
  EXPECT_EQ(Typed(wide + "3").threads(), 256 + 32);
  const WgmmaPlan shared = Typed(wide + "4");
  EXPECT_TRUE(shared.HasStoreWarp());
  EXPECT_EQ(shared.SmemBytes(shape), 1024 + 4 * 49152 + 64 * 256 * 2);
  EXPECT_EQ(shared.threads(), 256 + 64) << "one warp stores for both";
  EXPECT_EQ(Refusals(wide + "4", {shape}), "");
  EXPECT_NE(Refusals("tile_n=256 schedule=cooperative store=tma stages=4", {shape}), "") << "no stagger";

  const WgmmaPlan three =
      Typed("tile_m=192 tile_n=192 warpgroups=3 schedule=cooperative store=tma finish=in_turn stages=4");
  EXPECT_TRUE(three.HasStoreWarp());
  EXPECT_EQ(three.StagedBlocks(), 1);
  EXPECT_EQ(three.threads(), 384 + 128) << "a warp of the producer's warpgroup stores";
  EXPECT_NE(Refusals("tile_n=192 schedule=pingpong store=tma stages=5", {shape}), "") << "ping-pong never shares it";
}

TEST(StaggeredEpilogue, TakesAFewStepsAndLeavesOneStageForTheNextTile) {
  EXPECT_EQ(Typed("finish=in_turn stages=5").StaggerSteps(), 3);
  EXPECT_EQ(Typed("finish=in_turn stages=3").StaggerSteps(), 2);
  EXPECT_EQ(Typed("finish=in_turn stages=4 step_k=128").StaggerSteps(), 2);
  EXPECT_EQ(Typed("finish=in_turn stages=resident").StaggerSteps(), 3);
  EXPECT_EQ(Typed("stages=5").StaggerSteps(), 0);
}

// The last warpgroup may stage C in the stages. The others must leave them to it.
TEST(StaggeredEpilogue, StagesTheFirstWarpgroupsRowsBesideTheStages) {
  const Shape shape{2048, 2048, 2048};
  const auto smem_bytes = [&](std::string_view words) {
    return Typed("tile_n=256 store=tma " + std::string(words)).SmemBytes(shape);
  };
  constexpr int64_t kStage = (128 + 256) * 64 * 2, kRowsOfC = 64 * 256 * 2;
  EXPECT_EQ(smem_bytes("stages=4"), 1024 + 4 * kStage);
  EXPECT_EQ(smem_bytes("stages=4 finish=in_turn"), 1024 + 4 * kStage + kRowsOfC);
  EXPECT_EQ(smem_bytes("stages=3 finish=in_turn"), 1024 + 3 * kStage + 2 * kRowsOfC) << "there is room for all";
  EXPECT_EQ(smem_bytes("stages=4 finish=in_turn split=2"), 1024 + 4 * kStage)
      << "splits meet before anything is staged";
}

// Each other split has a slot of the largest share beside the stages: 32 sums a thread are 8 quads, or 16 pairs.
TEST(SplitsInACluster, HaveASlotForEachOtherSplit) {
  const auto slots_bytes = [](const std::string& words) {
    const Shape shape{1024, 1024, 8192};
    const WgmmaPlan plan = Typed("tile_m=64 tile_n=64 warpgroups=1 stages=4 reduction=cluster " + words);
    return plan.SmemBytes(shape) - 1024 - 4 * plan.StageBytes();
  };
  EXPECT_EQ(slots_bytes("split=2"), 1 * 4 * 128 * 16);
  EXPECT_EQ(slots_bytes("split=8"), 7 * 1 * 128 * 16);
  EXPECT_EQ(slots_bytes("split=3"), 2 * 6 * 128 * 8) << "shares of 5, 5 and 6 pairs";
  EXPECT_EQ(slots_bytes("split=12"), 11 * 2 * 128 * 8);
}

// ---- boxes of C ----

TEST(BoxesOfC, CoverTheTileAndNothingBeyondItInLinesAsWideAsMayBe) {
  for (int tile_n = 8; tile_n <= 256; tile_n += 8) {
    WgmmaPlan plan = Typed("store=tma");
    plan.tile_n = tile_n;
    const int width = plan.BoxWidth(), boxes = plan.ColumnsInBoxes() / width, last_start = tile_n - width;
    EXPECT_EQ(plan.ColumnsInBoxes() % width, 0) << tile_n;
    EXPECT_GE(last_start, 0) << tile_n;
    EXPECT_LE(last_start, (boxes - 1) * width) << tile_n << ": a hole before the last box";
    EXPECT_GT(last_start + width, (boxes - 1) * width) << tile_n << ": a box too many";
    EXPECT_GE(width, tile_n > 64 ? 32 : 8) << tile_n;
    EXPECT_LE(3 * plan.ColumnsInBoxes(), 4 * tile_n) << tile_n << ": more than a third is stored twice";
  }
  WgmmaPlan plan = Typed("store=tma");
  plan.tile_n = 176;
  EXPECT_EQ(plan.BoxWidth(), 64);
  EXPECT_EQ(plan.ColumnsInBoxes(), 192);
}

// ---- swapped roles ----

TEST(SwappedRoles, AreNotTheDefaultOfTextsWithoutRoles) { EXPECT_EQ(Typed("tile_m=64").roles, Roles::kStraight); }

// The swapped plan and the straight plan of the transposed problem, where both are stored by TMA.
void ExpectMirrored(const Plan& plan, const Plan& mirrored, const Gemm& gemm, const Gemm& transposed) {
  const WgmmaPlan swapped(plan), straight(mirrored);
  EXPECT_EQ(swapped.sums_per_thread(), straight.sums_per_thread()) << Print(plan);
  EXPECT_EQ(swapped.threads(), straight.threads()) << Print(plan);
  EXPECT_EQ(swapped.StagedBlocks(), straight.StagedBlocks()) << Print(plan);
  EXPECT_EQ(swapped.SmemBytes(gemm.shape), straight.SmemBytes(transposed.shape)) << Print(plan);
}

// Where both operands lie along k, a swapped plan is the straight plan of the transposed problem but for the store of
// C.
TEST(SwappedRoles, AreWhatStraightRolesAreForTheTransposedProblem) {
  const Gemm gemm{{1024, 4096, 1024}}, transposed{{4096, 1024, 1024}};
  Random random(5);
  int legal = 0;
  for (Plan plan : CoveringPlans(gemm, H200(), 1)) {
    if (plan.family != FamilyId::kWgmma) continue;
    for (int mutation = 0; mutation < 20; ++mutation, plan = Mutate(plan, random)) {
      plan.Set("roles", int(Roles::kSwapped)), plan.Set("store", int(Store::kTma));
      plan.Set("raster", kAlongM), plan.Set("finish", 0);
      Plan mirrored = plan;
      mirrored.Set("roles", int(Roles::kStraight));
      mirrored.Set("tile_m", plan.Get("tile_n")), mirrored.Set("tile_n", plan.Get("tile_m"));
      mirrored.Set("cluster_m", plan.Get("cluster_n")), mirrored.Set("cluster_n", plan.Get("cluster_m"));
      const WgmmaPlan straight(mirrored);
      if (straight.ColumnsInBoxes() != straight.tile_n) continue;  // boxes overlap there
      ASSERT_EQ(IsLegal(plan, gemm, H200()), IsLegal(mirrored, transposed, H200())) << Print(plan);
      ASSERT_EQ(IsWorthTrying(plan, gemm, H200()), IsWorthTrying(mirrored, transposed, H200())) << Print(plan);
      if (!IsLegal(plan, gemm, H200())) continue;
      ++legal;
      ExpectMirrored(plan, mirrored, gemm, transposed);
    }
  }
  EXPECT_GT(legal, 100);
}

}  // namespace
}  // namespace gemmsmith
