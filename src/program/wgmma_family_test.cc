#include "program/wgmma_family.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "program/cost.h"
#include "program/covering.h"
#include "program/emit.h"
#include "program/legality.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

const Device& H200() {
  static const Device device = *FindDevice("h200");
  return device;
}

Plan Wgmma(std::string_view words) { return *ParsePlan("wgmma " + std::string(words)); }
WgmmaPlan Typed(std::string_view words) { return WgmmaPlan(Wgmma(words)); }

std::string Reasons(std::string_view words, const Gemm& gemm) {
  std::string all;
  for (const std::string& reason : Check(Wgmma(words), gemm, H200())) all += reason + "\n";
  return all;
}

// ---- geometry of persistent plans ----

TEST(PersistentPlan, LaunchesACtaATileAlongXToBeCutToTheGpu) {
  const Launch launch = LaunchFor(Wgmma("schedule=pingpong tile_n=192 cluster_m=2 raster=n"), {{4096 + 64, 4096, 512}});
  EXPECT_TRUE(launch.fills_gpu);
  EXPECT_EQ(launch.grid, (Dim3{34 * 22, 1, 1})) << "33 rows of tiles in clusters of two rows";
  EXPECT_EQ(launch.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(launch.workspace_bytes, 0u);
  EXPECT_TRUE(launch.deterministic);
  EXPECT_FALSE(LaunchFor(Wgmma("tile_n=192"), {{4096, 4096, 512}}).fills_gpu);
}

TEST(PersistentPlan, CanDoWithTheCtasThatMakeAsManyTurns) {
  const auto launched = [](std::string_view words, const Shape& shape, uint32_t resident) {
    return CtasToLaunch(LaunchFor(Wgmma("schedule=cooperative tile_n=256 " + std::string(words)), {shape}), resident);
  };
  const Shape shape{4096, 4096, 4096};  // 512 tiles
  EXPECT_EQ(launched("", shape, 132), 132u);
  EXPECT_EQ(launched("ctas=even", shape, 132), 128u);
  EXPECT_EQ(launched("ctas=even", shape, 264), 256u);
  EXPECT_EQ(launched("ctas=even", shape, 600), 512u);
  EXPECT_EQ(launched("", shape, 600), 512u);
  EXPECT_EQ(launched("ctas=even cluster_m=2", {4096 + 128, 4096, 4096}, 132), 110u)
      << "34 x 16 tiles, 272 clusters: five turns of 55";
  EXPECT_EQ(CtasToLaunch(LaunchFor(Wgmma("tile_n=256"), {shape}), 132), 32u) << "one tile a CTA: the grid is the grid";
}

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

// The epilogue may not reuse the stages, which hold the next tile by then.
TEST(PersistentPlan, StagesCSomewhereBesideTheRing) {
  const Shape shape{8192, 8192, 8192};
  const WgmmaPlan roomy = Typed("schedule=cooperative stages=5"), tight = Typed("schedule=pingpong stages=6");
  EXPECT_EQ(roomy.SmemBytes(shape), 1024 + 5 * 32768 + 128 * (128 + 8) * 2);
  EXPECT_EQ(tight.StagedBlocks(), 1) << "two warpgroups with two blocks of 64 rows each would not fit";
  EXPECT_EQ(tight.SmemBytes(shape), 1024 + 6 * 32768 + 128 * (128 + 8) * 2);
  EXPECT_EQ(Typed("schedule=pingpong stages=3").StagedBlocks(), 2);
  EXPECT_FALSE(tight.StagingInStages(shape));
}

// A fourth stage of 48 KB leaves room for the rows of one warpgroup of two.
TEST(PersistentPlan, SharesStagingWhereWarpgroupsComeToItInTurnAndThereIsNoRoomForAll) {
  const Shape shape{8192, 8192, 8192};
  const std::string wide = "tile_n=256 schedule=cooperative store=tma finish=in_turn stages=";
  EXPECT_FALSE(Typed(wide + "3").SharesStaging());
  EXPECT_EQ(Typed(wide + "3").threads(), 256 + 32);
  const WgmmaPlan shared = Typed(wide + "4");
  EXPECT_TRUE(shared.SharesStaging());
  EXPECT_EQ(shared.SmemBytes(shape), 1024 + 4 * 49152 + 64 * 256 * 2);
  EXPECT_EQ(shared.threads(), 256 + 64) << "a warp stores for both";
  EXPECT_EQ(Reasons(wide + "4", {shape}), "");
  EXPECT_NE(Reasons("tile_n=256 schedule=cooperative store=tma stages=4", {shape}), "") << "they end together";

  const WgmmaPlan three =
      Typed("tile_m=192 tile_n=192 warpgroups=3 schedule=cooperative store=tma finish=in_turn stages=4");
  EXPECT_TRUE(three.SharesStaging());
  EXPECT_EQ(three.StagedBlocks(), 1);
  EXPECT_EQ(three.threads(), 384 + 128) << "of the producer's warpgroup a warp is free to store";
  EXPECT_NE(Reasons("tile_n=192 schedule=pingpong store=tma stages=5", {shape}), "") << "nothing is gained by it";
}

TEST(PersistentPlan, StoresBoxesOfAWarpgroupsRows) {
  const auto box_of_c = [](std::string_view words) {
    return LaunchFor(Wgmma("store=tma " + std::string(words)), {{4096, 4096, 512}}).maps.at(2).box;
  };
  EXPECT_EQ(box_of_c("schedule=pingpong"), (std::array<uint32_t, 3>{64, 64, 0}));
  EXPECT_EQ(box_of_c("schedule=cooperative tile_n=96"), (std::array<uint32_t, 3>{32, 64, 0}));
  EXPECT_EQ(box_of_c(""), (std::array<uint32_t, 3>{64, 16, 0}));
}

TEST(PersistentPlan, BecomesAKernelAndALauncherOfItsOwn) {
  const Gemm gemm{{4096, 4096, 512}};
  EXPECT_NE(Emit(Wgmma("schedule=pingpong"), gemm).text.find("PersistentKernel"), std::string::npos);
  EXPECT_EQ(Emit(Wgmma(""), gemm).text.find("PersistentKernel"), std::string::npos);
  const std::string standalone = EmitStandalone(Wgmma("schedule=cooperative"), gemm);
  EXPECT_NE(standalone.find("cudaOccupancyMaxActiveClusters"), std::string::npos);
}

// ---- legality ----

TEST(PersistentPlan, IsLegalWhereThereAreMoreTilesThanMultiprocessors) {
  for (const char* schedule : {"schedule=pingpong store=tma", "schedule=cooperative store=tma"}) {
    EXPECT_EQ(Reasons(schedule, {{128 * 19, 128 * 7, 512}}), "") << "133 tiles";
    EXPECT_NE(Reasons(schedule, {{128 * 12, 128 * 11, 512}}).find("132 tiles for 132 multiprocessors"),
              std::string::npos);
  }
}

TEST(PersistentPlan, TheWidestTileNeedsAColumnMajorBBoxesAndThreeStages) {
  const auto reasons = [](std::string_view words, const Layout& layout = kTn) {
    return Reasons("schedule=cooperative finish=in_turn " + std::string(words), {{8192, 8192, 4096}, {layout}});
  };
  EXPECT_EQ(reasons("tile_m=256 tile_n=208 stages=3 store=tma"), "");
  for (const char* words : {"tile_m=256 tile_n=208 stages=2 store=tma", "tile_m=256 tile_n=208 stages=3 store=rows",
                            "tile_m=256 tile_n=216 stages=3 store=tma"})
    EXPECT_NE(reasons(words).find("registers a thread"), std::string::npos) << words;
  EXPECT_NE(reasons("tile_m=256 tile_n=208 stages=3 store=tma", kNn).find("registers a thread"), std::string::npos);
  EXPECT_NE(reasons("roles=swapped tile_m=208 tile_n=256 stages=3 store=tma").find("registers a thread"),
            std::string::npos);
}

TEST(PersistentPlan, SaysWhatItCannotBe) {
  const Gemm gemm{{4096, 4096, 512}};
  const auto expect = [&](std::string_view words, std::string_view part) {
    EXPECT_NE(Reasons(words, gemm).find(part), std::string::npos) << words << ": " << Reasons(words, gemm);
  };
  expect("schedule=cooperative stages=resident", "ring of stages");
  expect("schedule=cooperative split=2", "does not split K");
  expect("schedule=pingpong warpgroups=1", "two warpgroups take turns, not 1");
  expect("schedule=cooperative tile_m=256 warpgroups=4", "at most three warpgroups");
  expect("schedule=pingpong tile_m=192 tile_n=256", "registers a thread");
  expect("schedule=cooperative tile_m=192 tile_n=208 warpgroups=3 stages=2", "an instruction of 208 columns");
  expect("schedule=cooperative stages=7", "bytes of shared memory");
  expect("schedule=pingpong ctas=even", "saves power where K is 2048 or more");
  expect("ctas=even", "every CTA has one tile");
  expect("schedule=pingpong store=tma_first_out", "mostly write C");
  expect("schedule=pingpong store=rows", "by the copy engine where lines of C allow it");
}

TEST(PersistentPlan, StoresRowsWhereTheCopyEngineCannot) {
  EXPECT_EQ(Reasons("schedule=pingpong store=rows", {{4096, 4095, 512}, {kTn}}), "");
}

TEST(PersistentPlan, MayLetCLeaveL2FirstAndSparePower) {
  EXPECT_EQ(Reasons("schedule=pingpong store=tma_first_out", {{4096, 4096, 64}}), "");
  EXPECT_EQ(Reasons("schedule=pingpong store=tma ctas=even", {{4096, 4096, 4096}}), "");
  EXPECT_NE(Reasons("schedule=pingpong store=tma ctas=even", {{128 * 12, 128 * 22, 4096}}), "") << "264 tiles need all";
  EXPECT_NE(Reasons("store=tma_first_out", {{4096, 4096, 64}}), "");
}

// ---- boxes of C ----

TEST(BoxesOfC, CoverTheTileAndNothingBeyondItInLinesAsWideAsMayBe) {
  for (int tile_n = 8; tile_n <= 256; tile_n += 8) {
    WgmmaPlan plan(Wgmma("store=tma"));
    plan.tile_n = tile_n;
    const int width = plan.BoxWidth(), boxes = plan.ColumnsInBoxes() / width, last_start = tile_n - width;
    EXPECT_EQ(plan.ColumnsInBoxes() % width, 0) << tile_n;
    EXPECT_GE(last_start, 0) << tile_n;
    EXPECT_LE(last_start, (boxes - 1) * width) << tile_n << ": a hole before the last box";
    EXPECT_GT(last_start + width, (boxes - 1) * width) << tile_n << ": a box too many";
    EXPECT_GE(width, tile_n > 64 ? 32 : 8) << tile_n;
    EXPECT_LE(3 * plan.ColumnsInBoxes(), 4 * tile_n) << tile_n << ": more than a third leaves twice";
  }
  WgmmaPlan plan(Wgmma("store=tma"));
  plan.tile_n = 176;
  EXPECT_EQ(plan.BoxWidth(), 64);
  EXPECT_EQ(plan.ColumnsInBoxes(), 192);
}

// ---- places ----

TEST(PlacedPlan, IsPersistentAndOfALongCall) {
  const Gemm large{{4096, 4096, 4096}};
  EXPECT_EQ(Reasons("schedule=pingpong store=tma place=near raster=8", large), "");
  EXPECT_NE(Reasons("store=tma place=near", large).find("persistent schedules"), std::string::npos);
  EXPECT_EQ(Reasons("schedule=pingpong store=tma place=near", {{4096, 4096, 2048}}), "");
  EXPECT_NE(Reasons("schedule=pingpong store=tma place=near", {{4096, 4096, 1984}}).find("2^35"), std::string::npos);
}

TEST(PlacedPlan, TakesItsPlacesInTheWorkspaceAndRanksInItsArguments) {
  const Gemm large{{4096, 4096, 4096}};
  const Plan placed = Wgmma("schedule=pingpong place=near");
  const Launch launch = LaunchFor(placed, large);
  EXPECT_TRUE(launch.is_placed);
  EXPECT_EQ(launch.workspace_bytes, kPlacesBytes);
  EXPECT_NE(Emit(placed, large).text.find("kPlaced = true;"), std::string::npos);
  EXPECT_FALSE(LaunchFor(Wgmma("schedule=pingpong"), large).is_placed);
  EXPECT_EQ(LaunchFor(Wgmma("schedule=pingpong"), large).workspace_bytes, 0u);
}

TEST(PlacedPlan, IsNothingThatAPlanIsWithoutAWordOfIt) {
  EXPECT_FALSE(WgmmaPlan(Wgmma("schedule=pingpong")).is_placed);
}

// ---- walks ----

TEST(Walk, GoesBackAndForthWhereTilesFollowEachOtherAndL2CannotHoldThem) {
  const Gemm large{{4096, 4096, 4096}};
  EXPECT_EQ(Reasons("schedule=pingpong store=tma walk=back_and_forth", large), "");
  EXPECT_NE(Reasons("store=tma walk=back_and_forth", large).find("persistent schedules"), std::string::npos);
  EXPECT_NE(
      Reasons("schedule=pingpong store=tma walk=back_and_forth", {{2048, 2048, 2048}}).find("25 MB of A, B and C"),
      std::string::npos);
  const Plan back = Wgmma("schedule=pingpong store=tma walk=back_and_forth");
  EXPECT_NE(Emit(back, large).text.find("kTurnsBack = true;"), std::string::npos);
  EXPECT_NE(Emit(Wgmma("schedule=pingpong store=tma"), large).text.find("kTurnsBack = false;"), std::string::npos);
  EXPECT_FALSE(WgmmaPlan(Wgmma("schedule=pingpong")).turns_back()) << "texts from before there were walks";
}

TEST(Walk, LetsLinesOfCLeaveL2FirstWhereItTurnsBack) {
  const Gemm large{{4096, 4096, 4096}};
  EXPECT_EQ(Reasons("schedule=pingpong store=tma_first_out walk=back_and_forth", large), "");
  EXPECT_NE(Reasons("schedule=pingpong store=tma_first_out", large).find("or that walk back and forth"),
            std::string::npos);
}

TEST(Walk, AlternatesWhereAllCtasAreThereAtOnceAndL2CannotHoldWhatTheyRead) {
  const Gemm skinny{{128, 8192, 8192}, {kTn}};
  const std::string_view words = "tile_m=128 tile_n=64 stages=6 stream=b walk=alternating";
  EXPECT_EQ(Reasons(words, skinny), "");
  EXPECT_NE(Reasons(words, {{128, 32768, 8192}, {kTn}}).find("all there at once: 132, not 512"), std::string::npos);
  EXPECT_NE(Reasons("schedule=pingpong store=tma walk=alternating", {{4096, 4096, 4096}}).find("is for schedule one"),
            std::string::npos);
  EXPECT_NE(Reasons("tile_m=128 tile_n=64 walk=alternating", {{128, 4096, 4096}, {kTn}}).find("stay in L2 on any walk"),
            std::string::npos);
  EXPECT_NE(Emit(Wgmma(words), skinny).text.find("kAlternates = true;"), std::string::npos);
  EXPECT_NE(Emit(Wgmma("tile_m=128"), skinny).text.find("kAlternates = false;"), std::string::npos);
  EXPECT_FALSE(LaunchFor(Wgmma(words), skinny).deterministic) << "sums in another order";
  EXPECT_TRUE(LaunchFor(Wgmma("tile_m=128 tile_n=64 stages=6 stream=b"), skinny).deterministic);
}

// ---- operands that few read ----

TEST(StreamedOperand, IsOneThatFewRead) {
  const Shape skinny = {128, 16384, 8192};
  EXPECT_EQ(Reasons("tile_m=128 stream=b", {skinny}), "");
  EXPECT_EQ(Reasons("tile_m=64 warpgroups=1 cluster_m=2 stream=b", {skinny}), "") << "both rows share the copies";
  EXPECT_EQ(Reasons("tile_m=64 warpgroups=1 stream=b", {{256, 16384, 8192}}), "");
  EXPECT_NE(Reasons("tile_m=64 warpgroups=1 stream=b", {{320, 16384, 8192}}).find("5 rows of clusters read B"),
            std::string::npos);
  EXPECT_EQ(Reasons("tile_m=64 warpgroups=1 cluster_m=2 stream=b", {{320, 16384, 8192}}), "");
  EXPECT_NE(Reasons("tile_m=128 stream=a", {skinny}).find("128 columns of clusters read A"), std::string::npos);
  EXPECT_EQ(Reasons("tile_n=64 stream=a", {{16384, 64, 8192}}), "");
  EXPECT_NE(Reasons("tile_m=128 stream=b", {{128, 4096, 4096}}).find("35 MB stay in L2"), std::string::npos);
}

TEST(StreamedOperand, KeepsNoMoreThanStaysInL2) {
  const Shape skinny = {128, 16384, 8192};  // B has 268 MB
  EXPECT_EQ(Reasons("tile_m=128 stream=b keep=2", {skinny}), "");
  EXPECT_NE(Reasons("tile_m=128 stream=b keep=3", {skinny}).find("would hold 50 MB"), std::string::npos);
  EXPECT_NE(Reasons("tile_m=128 keep=2", {skinny}).find("none is streamed"), std::string::npos);
  EXPECT_EQ(Reasons("tile_m=128 stream=b keep=3/2", {skinny}), "");
  EXPECT_NE(Reasons("tile_m=128 step_k=128 stream=b keep=1/4", {{128, 16384, 4096}}).find("k 4096 makes 32"),
            std::string::npos);
  const auto kept = [&](std::string_view keep) {
    return WgmmaPlan(Wgmma(fmt::format("tile_m=128 stream=b keep={}", keep))).KeptBytes(skinny);
  };
  EXPECT_EQ(kept("2"), 2.0 * 16384 * 8192 / 8);
  EXPECT_EQ(kept("1/4"), kept("1") / 4);
  EXPECT_EQ(kept("3/2"), kept("1/2") + kept("1"));
}

TEST(StreamedOperand, KeepsWholeSixteenthsOfItsLinesWhereLaunchesAlternate) {
  const Gemm skinny = {{128, 16384, 8192}, {kTn}};
  const auto reasons = [&](std::string_view words) {
    return Reasons(fmt::format("tile_m=128 tile_n=128 stages=4 kept=lines {}", words), skinny);
  };
  EXPECT_EQ(reasons("walk=alternating stream=b keep=2"), "");
  EXPECT_NE(reasons("stream=b keep=2").find("for launches that alternate"), std::string::npos);
  EXPECT_NE(reasons("walk=alternating stream=b keep=3").find("would hold 50 MB"), std::string::npos);
  EXPECT_NE(reasons("walk=alternating stream=b").find("keep says none"), std::string::npos);
  EXPECT_NE(reasons("walk=alternating").find("keep says none"), std::string::npos);
  EXPECT_NE(reasons("walk=alternating stream=b keep=3/2").find("whole sixteenths"), std::string::npos);
}

TEST(StreamedOperand, IsFetchedByShorterPiecesWhereItIsLong) {
  const auto fetched = [](std::string_view words, const Shape& shape, Layout layout) {
    const Launch launch = LaunchFor(Wgmma(fmt::format("tile_m=64 warpgroups=1 {}", words)), {shape, {layout}});
    std::vector<uint32_t> bytes;
    for (const TensorMap& map : launch.maps) bytes.push_back(map.fetch_bytes);
    return bytes;
  };
  using Bytes = std::vector<uint32_t>;
  for (const Layout layout : {kTn, kNn}) {
    EXPECT_EQ(fetched("stream=b store=tma", {64, 12288, 8192}, layout), (Bytes{256, 128, 256})) << "201 MB";
    EXPECT_EQ(fetched("stream=b", {64, 8192, 8192}, layout), (Bytes{256, 256})) << "134 MB";
    EXPECT_EQ(fetched("", {64, 12288, 8192}, layout), (Bytes{256, 256})) << "not streamed";
    EXPECT_EQ(fetched("stream=a tile_n=64", {12288, 64, 8192}, layout), (Bytes{128, 256}));
    EXPECT_EQ(fetched("stream=b", {12288, 12288, 8192}, layout), (Bytes{256, 128})) << "not the other one";
    EXPECT_EQ(fetched("stream=a", {12288, 12288, 8192}, layout), (Bytes{128, 256})) << "not the other one";
  }
  const std::string standalone = EmitStandalone(Wgmma("tile_m=64 warpgroups=1 stream=b"), {{64, 12288, 8192}, {kTn}});
  EXPECT_EQ(kLongStreamBytes, 200e6);
  EXPECT_NE(standalone.find("kLongStreamBytes = 200e6;"), std::string::npos) << "the same of a file by itself";
}

TEST(StreamedOperand, IsKnownToTheKernel) {
  const auto has = [](std::string_view words, std::string_view constant) {
    const std::string plan = fmt::format("tile_m=128 stream=b {}", words);
    return Emit(Wgmma(plan), {{128, 16384, 8192}}).text.find(constant) != std::string::npos;
  };
  EXPECT_TRUE(has("", "kStreamsA = false;"));
  EXPECT_TRUE(has("", "kStreamsB = true;"));
  EXPECT_TRUE(has("keep=2", "kKeep = 8;") && has("keep=2", "kKeepLines = 0;"));
  const std::string_view lines = "keep=2 kept=lines walk=alternating";
  EXPECT_TRUE(has(lines, "kKeep = 0;") && has(lines, "kKeepLines = 2;"));
}

// ---- warpgroups that end a tile in turn ----

TEST(EndingInTurn, KeepsAFewStepsForTheTurnsAndOneStageForTheNextTile) {
  EXPECT_EQ(Typed("finish=in_turn stages=5").TurnSteps(), 3);
  EXPECT_EQ(Typed("finish=in_turn stages=3").TurnSteps(), 2);
  EXPECT_EQ(Typed("finish=in_turn stages=4 step_k=128").TurnSteps(), 2);
  EXPECT_EQ(Typed("finish=in_turn stages=resident").TurnSteps(), 3);
  EXPECT_EQ(Typed("stages=5").TurnSteps(), 0);
}

// The last warpgroup may stage C in the stages, the others must leave them to it.
TEST(EndingInTurn, StagesTheFirstWarpgroupsRowsBesideTheStages) {
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

TEST(EndingInTurn, SaysWhereItCannotBe) {
  const auto expect = [&](std::string_view words, const Shape& shape, std::string_view part) {
    const std::string reasons = Reasons("finish=in_turn " + std::string(words), {shape});
    EXPECT_NE(reasons.find(part), std::string::npos) << words << ": " << reasons;
  };
  expect("warpgroups=1", {2048, 2048, 2048}, "warpgroups that share a tile");
  expect("schedule=pingpong store=tma", {4096, 4096, 2048}, "warpgroups that share a tile");
  expect("stages=3", {2048, 2048, 128}, "leave warpgroups nothing to share");
  expect("stages=2 step_k=128 split=3", {512, 64, 512}, "1 steps of 128 k leave warpgroups nothing to share");
  expect("schedule=cooperative stages=5 store=tma", {4096, 4096, 256}, "could be a tile apart");
  expect("split=2 reduction=cluster stages=7", {1024, 1024, 8192}, "no room beside the stages");
  EXPECT_EQ(Reasons("finish=in_turn schedule=cooperative stages=5 store=tma", {{4096, 4096, 320}}), "");
  EXPECT_EQ(Reasons("finish=in_turn split=2 reduction=cluster stages=6", {{1024, 1024, 8192}}), "");
}

// The waits of src/device/gemm_persistent.cuh: a producer, or unaided the last warpgroup, fills a ring for warpgroups
// that share tiles and end them in turn. With one tile, those of gemm_wgmma.cuh.
class TurnsInARing {
 public:
  struct Settings {
    int warpgroups, stages, steps, turn_steps, tiles;
    int shared_blocks = 0;  // of 64 rows, a warpgroup, that share the memory for one; 0: each has its own
    bool unaided = false;
    int part_steps = 0;  // of a part of a tile behind the tiles, which all end together
    bool stores_part = false;
    int taken_steps = 0;  // behind that, of sums of others
  };
  explicit TurnsInARing(const Settings& settings) : settings_(settings), warpgroups_(size_t(settings.warpgroups)) {}

  // What goes wrong where the favourite always goes first and the others by chance; "" where all come to the end. The
  // last favourites are the producer and the storer.
  std::string Run(int favourite, Random& random) {
    const int actors = settings_.warpgroups + 2;
    while (wrong_.empty() && !IsDone()) {
      bool moved = Move(favourite);
      const int first = int(random.Below(uint64_t(actors)));
      for (int i = 0; i < actors && !moved; ++i) moved = Move((first + i) % actors);
      if (!moved) return "stuck";
    }
    return wrong_;
  }

 private:
  struct Warpgroup {
    int issued = 0, released = 0;  // steps, over all tiles
    int arrived = 0;               // at the barrier of its turn
    bool has_turn = false;
    int to_stage = 0, staged = 0;  // blocks: of the tile that it has multiplied, and of all so far
    int allowed = 0;               // phases of its barrier before staging that are complete
    bool waits_for_storer = false;
  };

  int StepsOfTiles() const { return settings_.steps * settings_.tiles; }
  int StepsToMultiply() const { return StepsOfTiles() + settings_.part_steps; }
  int AllSteps() const { return StepsToMultiply() + settings_.taken_steps; }
  bool IsDone() const {
    return std::all_of(warpgroups_.begin(), warpgroups_.end(),
                       [&](const Warpgroup& w) { return w.issued == AllSteps() && w.to_stage == 0; }) &&
           stored_ == AllBlocks();
  }
  bool Move(int actor) {
    if (actor == settings_.warpgroups) return !settings_.unaided && Fill();
    if (actor > settings_.warpgroups) return Store();
    return warpgroups_[size_t(actor)].to_stage > 0 ? Stage(size_t(actor)) : Multiply(size_t(actor));
  }

  int BlocksOfATile() const { return settings_.warpgroups * settings_.shared_blocks; }
  int AllBlocks() const { return BlocksOfATile() * (settings_.tiles + (settings_.stores_part ? 1 : 0)); }
  size_t WhoseBlock(int block) const { return size_t(block % BlocksOfATile() / settings_.shared_blocks); }

  // As a barrier in shared memory says it: the parity of a phase is all that can be asked for.
  static bool IsComplete(int complete_phases, int phase) { return complete_phases % 2 != phase % 2; }

  bool Stage(size_t number) {
    Warpgroup& mine = warpgroups_[number];
    if (number > 0 && !IsComplete(mine.allowed, mine.staged)) return false;
    if (number == 0 && mine.staged > 0 && !IsComplete(mine.allowed, mine.staged - 1)) return false;
    if (is_occupied_) wrong_ = "staged over what was not stored";
    if (std::exchange(mine.waits_for_storer, true)) wrong_ = "came to the storer's barrier twice";
    is_occupied_ = true;
    ++mine.staged;
    --mine.to_stage;
    return true;
  }

  bool Store() {
    if (stored_ == AllBlocks() || !std::exchange(warpgroups_[WhoseBlock(stored_)].waits_for_storer, false))
      return false;
    is_occupied_ = false;
    if (++stored_ < AllBlocks()) ++warpgroups_[WhoseBlock(stored_)].allowed;
    return true;
  }

  bool Fill() {
    const auto has_released = [&](const Warpgroup& w) { return w.released > filled_ - settings_.stages; };
    if (filled_ == AllSteps() || !std::all_of(warpgroups_.begin(), warpgroups_.end(), has_released)) return false;
    ++filled_;
    return true;
  }

  bool Multiply(size_t number) {
    Warpgroup& mine = warpgroups_[number];
    // Whoever orders the copies refills what it has released before anything else.
    if (settings_.unaided && number + 1 == warpgroups_.size() &&
        filled_ < std::min(AllSteps(), mine.released + settings_.stages))
      return Fill();
    if (mine.issued == AllSteps()) return false;
    const bool is_part = mine.issued >= StepsOfTiles();
    const int steps_left = is_part ? AllSteps() - mine.issued : settings_.steps - mine.issued % settings_.steps;
    const bool is_taken = mine.issued >= StepsToMultiply();
    if (!is_part && number > 0 && steps_left == settings_.turn_steps && !mine.has_turn) {
      if (std::exchange(mine.released, mine.issued) < mine.issued) return true;
      if (mine.arrived == 0) return false;
      mine.arrived = 0, mine.has_turn = true;
    }
    if (mine.issued == filled_) return false;
    mine.released = mine.issued;  // one step late
    ++mine.issued;
    if (is_taken || mine.issued == StepsToMultiply()) mine.released = mine.issued;
    if (steps_left > 1) return true;
    mine.released = mine.issued, mine.has_turn = false;
    mine.to_stage = is_part && !settings_.stores_part ? 0 : settings_.shared_blocks;
    const bool passes_turn = !is_part && settings_.turn_steps > 0 && number + 1 < warpgroups_.size();
    if (passes_turn && ++warpgroups_[number + 1].arrived == 2) wrong_ = "came to a turn's barrier twice";
    return true;
  }

  const Settings settings_;
  std::vector<Warpgroup> warpgroups_;
  int filled_ = 0, stored_ = 0;
  bool is_occupied_ = false;  // the shared memory, by what is to be stored
  std::string wrong_;
};

std::string TroubleIn(const TurnsInARing::Settings& settings) {
  Random random(7);
  for (int favourite = 0; favourite <= settings.warpgroups + 1; ++favourite)
    for (int i = 0; i < 8; ++i)
      if (const std::string wrong = TurnsInARing(settings).Run(favourite, random); !wrong.empty()) return wrong;
  return "";
}

// So many plans of a schedule are legal; each is to come to the end of its tiles, whoever goes first.
int PlayedThrough(std::string_view schedule, std::string_view finish) {
  int legal = 0;
  for (const int warpgroups : {2, 3})
    for (const int step_k : {64, 128, 256})
      for (const int stages : {2, 3, 4, 5, 6, 7, 8, 10, 12})
        for (const int split : {1, 3})
          for (int k = 64; k <= 1024; k += 64) {
            const std::string words = fmt::format(
                "finish={} schedule={} warpgroups={} tile_m={} tile_n=32 step_k={} stages={} split={} store=tma",
                finish, schedule, warpgroups, 64 * warpgroups, step_k, stages, split);
            const Gemm gemm{{192 * 24, 2048, k}};
            if (!IsLegal(Wgmma(words), gemm, H200())) continue;
            ++legal;
            const WgmmaPlan plan = Typed(words);
            EXPECT_GT(plan.FewestSteps(gemm.shape), plan.TurnSteps()) << "the kernel's loop before the turn";
            for (const int steps : {plan.Steps(gemm.shape), plan.FewestSteps(gemm.shape)})
              for (const int tiles : plan.is_persistent() ? std::vector{1, 2, 5} : std::vector{1})
                EXPECT_EQ(TroubleIn({warpgroups, stages, steps, plan.TurnSteps(), tiles, 0, plan.is_unaided()}), "")
                    << words << " " << Print(gemm);
          }
  return legal;
}

TEST(EndingInTurn, NeverHangsNorMixesTilesWhereItIsLegal) {
  EXPECT_GT(PlayedThrough("one", "in_turn") + PlayedThrough("cooperative", "in_turn"), 200);
}

TEST(Unaided, NeverHangsNorMixesTilesWhereItIsLegal) {
  EXPECT_GT(PlayedThrough("unaided", "together") + PlayedThrough("unaided", "in_turn"), 200);
  EXPECT_EQ(TroubleIn({3, 4, 12, 5, 3, 0, true}), "stuck") << "a turn longer than the ring";
}

TEST(Unaided, HasTheProducersRegistersAndStagesWhatThereIsRoomFor) {
  const WgmmaPlan plan = Typed("schedule=unaided tile_m=192 tile_n=256 warpgroups=3 stages=3 store=tma finish=in_turn");
  EXPECT_EQ(plan.threads(), 384);
  EXPECT_FALSE(plan.MovesRegisters());
  EXPECT_FALSE(plan.SharesStaging());
  constexpr int64_t kStages = 3 * (192 + 256) * 64 * 2;
  EXPECT_EQ(plan.StagedPanels(), 2) << "of four";
  EXPECT_EQ(plan.SmemBytes({8192, 8192, 8192}), 1024 + kStages + 3 * 64 * 128 * 2);
  EXPECT_EQ(Typed("schedule=unaided tile_m=128 tile_n=256 stages=3 store=tma").StagedPanels(), 4) << "room for all";
  EXPECT_EQ(Typed("schedule=cooperative tile_m=192 tile_n=256 warpgroups=3 stages=3 store=tma").StagedPanels(), 4);
}

TEST(SharedRest, NeverHangsNorOverwritesBehindTilesThatEndInTurn) {
  for (const int warpgroups : {1, 2, 3})
    for (const int blocks : {0, 1, 2})
      for (const int stages : {2, 3, 4, 5})
        for (const int steps : {stages, stages + 1, 9})
          for (const int tiles : {0, 1, 2, 5})
            for (const int part_steps : {4, 5, 8})
              for (const bool stores_part : {false, true}) {
                const int taken_steps = stores_part ? part_steps : 0;
                const TurnsInARing::Settings settings{warpgroups,  stages,     steps, std::min(3, stages - 1),
                                                      tiles,       blocks,     false, part_steps,
                                                      stores_part, taken_steps};
                EXPECT_EQ(TroubleIn(settings), "") << warpgroups << " " << blocks << " " << stages << " " << steps
                                                   << " " << tiles << " " << part_steps;
              }
}

TEST(SharedRest, IsACooperativeLaunchWithASlotForEveryCta) {
  const Gemm gemm{{8192, 8192, 8192}};
  const Plan shared = Wgmma("schedule=cooperative store=tma tile_m=256 tile_n=192 stages=3 finish=in_turn ctas=shared");
  const Launch launch = LaunchFor(shared, gemm);
  EXPECT_TRUE(launch.is_cooperative && launch.fills_gpu && launch.deterministic);
  EXPECT_EQ(launch.workspace_bytes, SharedRestBytes(256 * 192));
  EXPECT_EQ(CtasToLaunch(launch, 132), 132u);
  EXPECT_EQ(CtasToLaunch(LaunchFor(shared, {{2048, 2048, 16384}}), 132), 132u) << "more than there are tiles";
  EXPECT_NE(Emit(shared, gemm).text.find("kSharesRest = true;"), std::string::npos);
  Plan placed = shared;
  placed.Set("place", 1);
  EXPECT_EQ(LaunchFor(placed, gemm).workspace_bytes, kPlacesBytes + SharedRestBytes(256 * 192));
  Plan all = shared;
  all.Set("ctas", int(Ctas::kAll));
  EXPECT_FALSE(LaunchFor(all, gemm).is_cooperative);
  EXPECT_EQ(LaunchFor(all, gemm).workspace_bytes, 0u);
  EXPECT_EQ(UsualForm(shared, H200()).Get("ctas"), int(Ctas::kAll));
  EXPECT_LT(PredictTimeNs(shared, {{8192, 4096, 16384}}, H200()), PredictTimeNs(all, {{8192, 4096, 16384}}, H200()))
      << "5.3 waves are six";
}

TEST(SharedRest, SaysWhereItCannotBe) {
  const Shape shape{8192, 8192, 8192};
  const std::string tile = "tile_m=256 tile_n=192 stages=3 ", rest = "schedule=cooperative store=tma finish=in_turn ";
  const auto expect = [&](const std::string& words, const Gemm& of, std::string_view part) {
    const std::string reasons = Reasons("ctas=shared " + words, of);
    EXPECT_NE(reasons.find(part), std::string::npos) << words << ": " << reasons;
  };
  EXPECT_EQ(Reasons("ctas=shared " + tile + rest, {shape}), "");
  EXPECT_EQ(Reasons("ctas=shared " + tile + rest + "place=near walk=back_and_forth trigger=late", {shape}), "");
  expect("schedule=pingpong store=tma", {shape}, "for schedule cooperative without clusters");
  expect(tile + rest + "cluster_m=2", {shape}, "for schedule cooperative without clusters");
  expect("schedule=one", {shape}, "ctas stays all where every CTA has one tile");
  expect(tile + rest, {shape, {kTn, ScalarType::kF16, Accumulation::kF16}}, "hands over f32 sums");
  expect(tile + rest, {{8192, 8192, 1024}}, "takes K of 32 steps, not 16");
  expect(tile + rest, {{1024, 1024, 8192}}, "m n k is 2^35 or more");
  expect(rest + "tile_m=256 tile_n=176 stages=3", {{8448, 8448, 8192}}, "leave nothing over");
  expect(rest + "tile_m=256 tile_n=200 stages=3", {shape}, "1312 tiles leave nothing over");
  expect("schedule=cooperative store=tma tile_m=64 tile_n=64 warpgroups=1", {shape}, "fill a multiprocessor each");
  expect(rest + "tile_m=256 tile_n=208 stages=3", {shape}, "about 248 registers");
}

TEST(Unaided, SaysWhereItCannotBe) {
  const Shape shape{8192, 8192, 8192};
  const auto expect = [&](std::string_view words, const Shape& of, std::string_view part) {
    const std::string reasons = Reasons("schedule=unaided store=tma " + std::string(words), {of});
    EXPECT_NE(reasons.find(part), std::string::npos) << words << ": " << reasons;
  };
  EXPECT_EQ(Reasons("schedule=unaided store=tma tile_m=192 tile_n=256 warpgroups=3 stages=3 finish=in_turn", {shape}),
            "");
  EXPECT_EQ(Reasons("schedule=unaided store=tma tile_m=256 tile_n=216 warpgroups=2 stages=3 finish=in_turn", {shape}),
            "");
  expect("warpgroups=1", shape, "two or three warpgroups do without a producer, not 1");
  expect("warpgroups=4 tile_m=256", shape, "two or three warpgroups do without a producer, not 4");
  expect("roles=swapped", shape, "without a producer with straight roles only");
  expect("stages=5", {8192, 8192, 256}, "tiles of 4 steps in a ring of 5 stages");
  expect("stages=resident", {8192, 8192, 256}, "a ring of stages");
  expect("split=2", shape, "does not split K");
  expect("tile_m=256 tile_n=224 warpgroups=2 stages=3", shape, "about 256 registers a thread, at most 255");
}

TEST(EndingInTurn, NeverHangsNorOverwritesWhereStagingIsShared) {
  for (const int warpgroups : {2, 3})
    for (const int blocks : {1, 2, 3})
      for (const int stages : {2, 3, 4, 5})
        for (const int steps : {stages, stages + 1, 9})
          for (const int tiles : {1, 2, 5})
            EXPECT_EQ(TroubleIn({warpgroups, stages, steps, std::min(3, stages - 1), tiles, blocks}), "")
                << warpgroups << " " << blocks << " " << stages << " " << steps << " " << tiles;
}

TEST(EndingInTurn, WouldHangOrMixTilesWhereItIsNot) {
  EXPECT_EQ(TroubleIn({2, 4, 12, 4, 3}), "");
  EXPECT_EQ(TroubleIn({2, 4, 12, 5, 3}), "stuck") << "a turn longer than the ring";
  EXPECT_EQ(TroubleIn({2, 6, 3, 2, 5}), "came to a turn's barrier twice") << "a ring that holds the next tile too";
}

TEST(PersistentPlan, MayHaveMoreStagesThanATileHasSteps) {
  EXPECT_EQ(Reasons("schedule=pingpong stages=5 store=tma", {{8192, 8192, 64}}), "")
      << "the ring goes on into the next tile";
  EXPECT_NE(Reasons("stages=5", {{8192, 8192, 64}}).find("fewer than the 5 stages"), std::string::npos);
}

// ---- swapped roles: wgmma computes C transposed ----

TEST(SwappedRoles, TakeTilesBy8AlongMAndBy64AlongN) {
  const Gemm gemm{{12288, 128, 4096}};
  for (const char* tile :
       {"tile_m=96 tile_n=128", "tile_m=8 tile_n=64 warpgroups=1", "tile_m=256 tile_n=64 warpgroups=1"})
    EXPECT_EQ(Reasons("roles=swapped " + std::string(tile), gemm), "") << tile;
  EXPECT_EQ(Reasons("roles=swapped tile_m=96 tile_n=96", gemm), "roles=swapped takes tile_n by 64, not 96\n");
  EXPECT_EQ(Reasons("tile_m=96", gemm), "roles=straight takes tile_m by 64, not 96\n");
  EXPECT_EQ(Reasons("roles=swapped tile_n=64", gemm), "2 warpgroups cannot share 64 columns in blocks of 64\n");
  EXPECT_EQ(Typed("tile_m=64").roles, Roles::kStraight) << "texts from before there were roles";
}

// Tiles that stand in a cluster of splits copy for themselves: no slices, no multicast.
TEST(SplitsInACluster, StandBesideTheSplitsOfOtherTiles) {
  const Gemm gemm{{256, 512, 4096}};
  const Plan plan = Wgmma("tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=cluster cluster_m=2 cluster_n=2");
  ASSERT_TRUE(IsLegal(plan, gemm, H200()));
  const Launch launch = LaunchFor(plan, gemm);
  EXPECT_EQ(launch.grid, (Dim3{4, 8, 4}));
  EXPECT_EQ(launch.cluster, (Dim3{2, 2, 4}));
  EXPECT_EQ(launch.workspace_bytes, 0u);
  EXPECT_FALSE(launch.is_cooperative);
  EXPECT_TRUE(launch.deterministic);
  EXPECT_EQ(launch.maps[0].box[1], 64u) << "all of A's rows";
  const std::string text = Emit(plan, gemm).text;
  for (const char* constant : {"kClusterM = 1;", "kClusterN = 1;", "kGroupM = 2;", "kGroupN = 2;"})
    EXPECT_NE(text.find(constant), std::string::npos) << constant;
}

TEST(SplitsInACluster, SayWhereTheyCannotBe) {
  const auto reasons = [](const std::string& words) {
    return Reasons("tile_m=64 tile_n=64 warpgroups=1 reduction=cluster " + words, {{1024, 1024, 8192}});
  };
  EXPECT_EQ(reasons("split=16"), "");
  EXPECT_EQ(reasons("split=8 cluster_m=2"), "");
  EXPECT_EQ(reasons("split=12"), "") << "16 pairs: four splits have two";
  EXPECT_NE(reasons("split=24").find("24 splits of 1 x 1 tiles are a cluster of 24 CTAs, at most 16"),
            std::string::npos);
  EXPECT_NE(reasons("split=8 cluster_m=2 cluster_n=2").find("a cluster of 32 CTAs"), std::string::npos);
  EXPECT_EQ(reasons("split=4 raster=4"), "");
  EXPECT_NE(reasons("split=4 cluster_m=2 raster=4").find("raster m or n"), std::string::npos);
}

// 144 KiB of shared memory a CTA: one a multiprocessor, of which seven clusters of 16 find room.
TEST(SplitsInACluster, AlternateWhereAllOfThemAreThereAtOnce) {
  const auto reasons = [](const Shape& shape) {
    return Reasons("tile_m=64 tile_n=64 warpgroups=1 stages=8 split=16 reduction=cluster walk=alternating", {shape});
  };
  EXPECT_EQ(reasons({128, 192, 655360}), "");
  EXPECT_NE(reasons({128, 256, 655360}).find("all there at once: 112, not 128"), std::string::npos);
}

// Beside the stages a slot of the largest share for each other split: 32 sums a thread are 8 quads, or 16 pairs.
TEST(SplitsInACluster, HaveRoomForWhatOthersSend) {
  const auto slots_bytes = [](const std::string& words) {
    const Shape shape{1024, 1024, 8192};
    const WgmmaPlan plan(Wgmma("tile_m=64 tile_n=64 warpgroups=1 stages=4 reduction=cluster " + words));
    return plan.SmemBytes(shape) - 1024 - 4 * plan.StageBytes();
  };
  EXPECT_EQ(slots_bytes("split=2"), 1 * 4 * 128 * 16);
  EXPECT_EQ(slots_bytes("split=8"), 7 * 1 * 128 * 16);
  EXPECT_EQ(slots_bytes("split=3"), 2 * 6 * 128 * 8) << "of 5, 5 and 6 pairs";
  EXPECT_EQ(slots_bytes("split=12"), 11 * 2 * 128 * 8);
}

TEST(SwappedRoles, LeaveNoUnitOfTheTileIdle) {
  EXPECT_EQ(Reasons("roles=swapped tile_m=24 warpgroups=1", {{17, 65, 256}}), "");
  EXPECT_NE(
      Reasons("roles=swapped tile_m=32 warpgroups=1", {{17, 65, 256}}).find("m 17 leaves 15 of the tile's 32 rows"),
      std::string::npos);
  EXPECT_NE(Reasons("roles=swapped tile_m=24 warpgroups=1", {{17, 64, 256}}).find("n 64 leaves 64"), std::string::npos);
}

TEST(SwappedRoles, MeetByAddsOnly) {
  const Gemm gemm{{96, 512, 4096}};
  EXPECT_EQ(Reasons("roles=swapped tile_m=96 split=4", gemm), "");
  for (const char* reduction : {"cluster", "exchange"})
    EXPECT_NE(
        Reasons("roles=swapped tile_m=96 split=4 reduction=" + std::string(reduction), gemm).find("straight roles"),
        std::string::npos);
}

// The grid, the clusters and the copies of the operands are those of tiles of C, whatever the roles.
TEST(SwappedRoles, ChangeOfALaunchTheBoxesOfCOnly) {
  for (const Layout& layout : {kTn, kNn}) {
    const Gemm gemm{{4096, 2048, 1024}, {layout}};
    const std::string words = "cluster_m=2 raster=n warpgroups=1 store=tma roles=";
    Launch swapped = LaunchFor(Wgmma(words + "swapped"), gemm);
    EXPECT_EQ(swapped.maps.at(2).box, (std::array<uint32_t, 3>{64, 128, 0})) << "of a warpgroup, all rows of the tile";
    swapped.maps[2].box[1] = 16;
    EXPECT_EQ(swapped, LaunchFor(Wgmma(words + "straight"), gemm));
  }
  const Launch launch = LaunchFor(Wgmma("tile_m=96 roles=swapped store=tma"), {{12288, 256, 4096}});
  EXPECT_EQ(launch.grid, (Dim3{128, 2, 1}));
  EXPECT_EQ(launch.maps.at(0).box, (std::array<uint32_t, 3>{64, 96, 0})) << "rows of A";
  EXPECT_EQ(launch.maps.at(1).box, (std::array<uint32_t, 3>{64, 128, 0})) << "columns of B";
  EXPECT_EQ(launch.maps.at(2).box, (std::array<uint32_t, 3>{64, 96, 0}));
  EXPECT_EQ(launch.maps.at(2).swizzle_bytes, 128u);
}

// Where both operands lie along k, a swapped plan is the straight plan of the transposed problem but for how C is
// stored.
TEST(SwappedRoles, AreWhatStraightRolesAreForTheTransposedProblem) {
  const Gemm gemm{{1024, 4096, 1024}}, transposed{{4096, 1024, 1024}};
  Random random(5);
  int legal = 0;
  for (Plan plan : CoveringPlans(gemm, H200(), 1)) {
    if (plan.family != FamilyId::kWgmma) continue;
    for (int mutation = 0; mutation < 20; ++mutation, plan = Mutate(plan, random)) {
      if (WgmmaPlan(plan).is_unaided()) continue;  // with straight roles only
      plan.Set("roles", int(Roles::kSwapped)), plan.Set("store", int(Store::kBoxes)), plan.Set("raster", 0),
          plan.Set("finish", 0);
      Plan twin = plan;
      twin.Set("roles", int(Roles::kStraight));
      twin.Set("tile_m", plan.Get("tile_n")), twin.Set("tile_n", plan.Get("tile_m"));
      twin.Set("cluster_m", plan.Get("cluster_n")), twin.Set("cluster_n", plan.Get("cluster_m"));
      const WgmmaPlan straight_tile(twin);
      if (straight_tile.ColumnsInBoxes() != straight_tile.tile_n) continue;  // boxes overlap there
      ASSERT_EQ(IsLegal(plan, gemm, H200()), IsLegal(twin, transposed, H200())) << Print(plan);
      if (!IsLegal(plan, gemm, H200())) continue;
      ++legal;
      const WgmmaPlan swapped(plan), straight(twin);
      EXPECT_EQ(swapped.sums_per_thread(), straight.sums_per_thread()) << Print(plan);
      EXPECT_EQ(swapped.threads(), straight.threads()) << Print(plan);
      EXPECT_EQ(swapped.StagedBlocks(), straight.StagedBlocks()) << Print(plan);
      EXPECT_EQ(swapped.SmemBytes(gemm.shape), straight.SmemBytes(transposed.shape)) << Print(plan);
    }
  }
  EXPECT_GT(legal, 100);
}

TEST(SwappedRoles, AreAWordOfTheEmittedConfig) {
  const Gemm gemm{{4096, 4096, 512}};
  EXPECT_NE(Emit(Wgmma("roles=swapped"), gemm).text.find("kSwapped = true;"), std::string::npos);
  EXPECT_NE(Emit(Wgmma(""), gemm).text.find("kSwapped = false;"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
