#include "program/wgmma/wgmma_legality.h"

#include <gtest/gtest.h>

#include "program/wgmma/example_plans.h"

namespace gemmsmith {
namespace {

// A plan that cannot run says so with these words.
void ExpectRefused(std::string_view words, const Gemm& gemm, std::string_view part) {
  const std::string refusals = Refusals(words, gemm);
  EXPECT_NE(refusals.find(part), std::string::npos) << words << ": " << refusals;
}
// A legal plan is advised against with these words.
void ExpectAdvice(std::string_view words, const Gemm& gemm, std::string_view part) {
  const std::string advice = Advice(words, gemm);
  EXPECT_EQ(advice.find("illegal"), std::string::npos) << words << ": " << advice;
  EXPECT_NE(advice.find(part), std::string::npos) << words << ": " << advice;
}

// ---- orders of A and B ----

TEST(ColumnMajorA, IsReadInPanelsOf16RowsOrMore) {
  for (const Layout& layout : {kColumnRow, kColumnColumn}) {
    const Gemm gemm{{1024, 2048, 4096}, {layout}};
    EXPECT_EQ(Advice("tile_m=128 tile_n=128 store=tma", gemm), "");
    EXPECT_EQ(Advice("roles=swapped tile_m=48 tile_n=128", gemm), "");
    ExpectRefused("roles=swapped tile_m=40 tile_n=128", gemm, "panels of 16 rows or more; tile_m is 40");
  }
  ExpectRefused("tile_n=72", {{1024, 2048, 4096}, {kColumnRow}}, "panels of 16 columns or more; tile_n is 72");
  EXPECT_EQ(Advice("tile_n=72", {{1024, 2048, 4096}, {kColumnColumn}}), "");
}

TEST(ColumnMajorA, InPanelsOf16RowsTakesRegistersOfSwappedSums) {
  const std::string words = "roles=swapped tile_n=128 schedule=cooperative stages=3 store=tma tile_m=";
  const Shape shape{3072, 4096, 512};
  ExpectRefused(words + "240", {shape, {kColumnRow}}, "about 169 registers a thread, at most 168");
  EXPECT_EQ(Advice(words + "240", {shape, {kNn}}), "");
  EXPECT_EQ(Advice(words + "256", {shape, {kColumnRow}}), "");
}

TEST(ColumnMajorA, NeedsAnMAtMultiplesOf8AndNoK) {
  EXPECT_EQ(Advice("", {{1000, 1024, 4095}, {kColumnRow}}), "");
  ExpectRefused("", {{1001, 1024, 4096}, {kColumnRow}}, "lda is 1001");
  ExpectRefused("", {{1000, 1024, 4095}, {kColumnColumn}}, "ldb 4095");
}

TEST(ColumnMajorA, LeavesNoPanelOfASwappedTileIdle) {
  EXPECT_EQ(Advice("roles=swapped tile_m=32 warpgroups=1", {{24, 65536, 256}, {kColumnRow}}), "");
  ExpectAdvice("roles=swapped tile_m=48 warpgroups=1", {{24, 65536, 256}, {kColumnRow}}, "m 24 leaves 24");
  ExpectAdvice("roles=swapped tile_m=32 warpgroups=1", {{24, 65536, 256}, {kNn}}, "m 24 leaves 8");
}

TEST(ColumnMajorA, IsServedByWgmmaWhereItsLinesAreAligned) {
  EXPECT_TRUE(IsServed({{1000, 1024, 4095}, {kColumnRow}}));
  EXPECT_FALSE(IsServed({{1001, 1024, 4096}, {kColumnRow}}));
  EXPECT_FALSE(IsServed({{1000, 1020, 4096}, {kColumnRow}}));
  EXPECT_TRUE(IsServed({{1001, 1023, 4095}, {kNn}}));
}

// ---- persistent schedules ----

TEST(PersistentPlan, IsWorthTryingWhereThereAreMoreTilesThanMultiprocessors) {
  for (const char* schedule : {"schedule=pingpong store=tma", "schedule=cooperative store=tma"}) {
    EXPECT_EQ(Advice(schedule, {{128 * 19, 128 * 7, 512}}), "") << "133 tiles";
    ExpectAdvice(schedule, {{128 * 12, 128 * 11, 512}}, "132 tiles for 132 multiprocessors");
  }
}

TEST(PersistentPlan, TheWidestTileNeedsLinesAlongKBoxesAndThreeStages) {
  const auto words = [](std::string_view rest) { return "schedule=cooperative finish=in_turn " + std::string(rest); };
  const Gemm gemm{{8192, 8192, 4096}, {kTn}};
  EXPECT_EQ(Advice(words("tile_m=256 tile_n=208 stages=3 store=tma"), gemm), "");
  for (const char* rest :
       {"tile_m=256 tile_n=208 stages=2 store=tma", "tile_m=256 tile_n=208 stages=3 store=rows",
        "tile_m=256 tile_n=216 stages=3 store=tma", "roles=swapped tile_m=208 tile_n=256 stages=3 store=tma"})
    ExpectRefused(words(rest), gemm, "registers a thread");
  for (const Layout& layout : {kNn, kColumnRow, kColumnColumn})
    ExpectRefused(words("tile_m=256 tile_n=208 stages=3 store=tma"), {gemm.shape, {layout}}, "registers a thread");
}

TEST(PersistentPlan, SaysWhyItCannotRun) {
  const Gemm gemm{{4096, 4096, 512}};
  ExpectRefused("schedule=cooperative stages=resident", gemm, "ring of stages");
  ExpectRefused("schedule=cooperative split=2", gemm, "does not split K");
  ExpectRefused("schedule=pingpong warpgroups=1", gemm, "pingpong is for two warpgroups, not 1");
  ExpectRefused("schedule=cooperative tile_m=256 warpgroups=4", gemm, "at most three warpgroups");
  ExpectRefused("schedule=pingpong tile_m=192 tile_n=256", gemm, "registers a thread");
  ExpectRefused("schedule=cooperative tile_m=192 tile_n=208 warpgroups=3 stages=2", gemm,
                "an instruction of 208 columns");
  ExpectRefused("schedule=cooperative stages=7", gemm, "bytes of shared memory");
}

TEST(PersistentPlan, SaysWhyItIsNotWorthTrying) {
  const Gemm gemm{{4096, 4096, 512}};
  ExpectAdvice("schedule=pingpong ctas=even", gemm, "saves power where K is 2048 or more");
  ExpectAdvice("schedule=pingpong store=tma_first_out", gemm, "mostly write C");
  ExpectAdvice("schedule=pingpong store=rows", gemm, "store by TMA where lines of C allow it");
}

TEST(PersistentPlan, StoresRowsWhereTmaCannot) {
  EXPECT_EQ(Advice("schedule=pingpong store=rows", {{4096, 4095, 512}, {kTn}}), "");
  ExpectRefused("schedule=pingpong store=tma", {{4096, 4095, 512}, {kTn}}, "store=tma needs lines of C");
}

TEST(PersistentPlan, MayStoreEvictFirstAndSparePower) {
  EXPECT_EQ(Advice("schedule=pingpong store=tma_first_out", {{4096, 4096, 64}}), "");
  EXPECT_EQ(Advice("schedule=pingpong store=tma ctas=even", {{4096, 4096, 4096}}), "");
  ExpectAdvice("schedule=pingpong store=tma ctas=even", {{128 * 12, 128 * 22, 4096}}, "264 tiles do not need all");
  ExpectAdvice("store=tma_first_out", {{4096, 4096, 64}}, "persistent kernels");
}

TEST(PersistentPlan, MayHaveMoreStagesThanATileHasSteps) {
  EXPECT_EQ(Advice("schedule=pingpong stages=5 store=tma", {{8192, 8192, 64}}), "")
      << "the ring goes on into the next tile";
  ExpectAdvice("stages=5", {{8192, 8192, 64}}, "fewer than the 5 stages");
}

// ---- axes without effect ----

TEST(WgmmaAdvice, NamesTheValueThatMakesTheSameKernel) {
  const Gemm gemm{{4096, 4096, 4096}};
  ExpectAdvice("ctas=even", gemm, "ctas=all makes the same kernel");
  ExpectAdvice("reduction=cluster", gemm, "reduction=add makes the same kernel");
  ExpectAdvice("raster=n", {{128, 4096, 4096}}, "raster=m makes the same kernel");
  EXPECT_EQ(Advice("raster=n split=2 reduction=cluster", {{256, 4096, 4096}}), "");
}

// ---- streamed operands ----

TEST(StreamedOperand, HasFewReaders) {
  const Shape skinny = {128, 16384, 8192};
  EXPECT_EQ(Advice("tile_m=128 stream=b", {skinny}), "");
  EXPECT_EQ(Advice("tile_m=64 warpgroups=1 cluster_m=2 stream=b", {skinny}), "") << "both rows share the copies";
  EXPECT_EQ(Advice("tile_m=64 warpgroups=1 stream=b", {{256, 16384, 8192}}), "");
  ExpectAdvice("tile_m=64 warpgroups=1 stream=b", {{320, 16384, 8192}}, "5 rows of clusters read B");
  EXPECT_EQ(Advice("tile_m=64 warpgroups=1 cluster_m=2 stream=b", {{320, 16384, 8192}}), "");
  ExpectAdvice("tile_m=128 stream=a", {skinny}, "128 columns of clusters read A");
  EXPECT_EQ(Advice("tile_n=64 stream=a", {{16384, 64, 8192}}), "");
  ExpectAdvice("tile_m=128 stream=b", {{128, 4096, 4096}}, "35 MB stay in L2");
}

// ---- staggered epilogue ----

TEST(StaggeredEpilogue, SaysWhereItCannotBe) {
  const auto expect = [](std::string_view words, const Shape& shape, std::string_view part) {
    ExpectRefused("finish=in_turn " + std::string(words), {shape}, part);
  };
  expect("warpgroups=1", {2048, 2048, 2048}, "warpgroups that share a tile");
  expect("schedule=pingpong store=tma", {4096, 4096, 2048}, "warpgroups that share a tile");
  expect("stages=3", {2048, 2048, 128}, "leave warpgroups nothing to share");
  expect("stages=2 step_k=128 split=3", {512, 64, 512}, "1 steps of 128 k leave warpgroups nothing to share");
  expect("schedule=cooperative stages=5 store=tma", {4096, 4096, 256}, "could be a tile apart");
  expect("split=2 reduction=cluster stages=7", {1024, 1024, 8192}, "no room beside the stages");
  EXPECT_EQ(Advice("finish=in_turn schedule=cooperative stages=5 store=tma", {{4096, 4096, 320}}), "");
  EXPECT_EQ(Advice("finish=in_turn split=2 reduction=cluster stages=6", {{1024, 1024, 8192}}), "");
}

// ---- swapped roles ----

TEST(SwappedRoles, TakeTilesBy8AlongMAndBy64AlongN) {
  const Gemm gemm{{12288, 128, 4096}};
  for (const char* tile :
       {"tile_m=96 tile_n=128", "tile_m=8 tile_n=64 warpgroups=1", "tile_m=256 tile_n=64 warpgroups=1"})
    EXPECT_EQ(Advice("roles=swapped " + std::string(tile), gemm), "") << tile;
  EXPECT_EQ(Refusals("roles=swapped tile_m=96 tile_n=96", gemm), "swapped roles take tile_n by 64, not 96\n");
  EXPECT_EQ(Refusals("tile_m=96", gemm), "straight roles take tile_m by 64, not 96\n");
  EXPECT_EQ(Refusals("roles=swapped tile_n=64", gemm), "2 warpgroups cannot share 64 columns in blocks of 64\n");
}

TEST(SwappedRoles, LeaveNoUnitOfTheTileIdle) {
  EXPECT_EQ(Advice("roles=swapped tile_m=24 warpgroups=1", {{17, 65, 256}}), "");
  ExpectAdvice("roles=swapped tile_m=32 warpgroups=1", {{17, 65, 256}}, "m 17 leaves 15 of the tile's 32 rows");
  ExpectAdvice("roles=swapped tile_m=24 warpgroups=1", {{17, 64, 256}}, "n 64 leaves 64");
}

TEST(SwappedRoles, ReduceInEveryWay) {
  const Gemm gemm{{96, 512, 4096}};
  for (const std::string reduction : {"add", "cluster", "exchange"})
    EXPECT_EQ(Advice("roles=swapped tile_m=96 split=4 reduction=" + reduction, gemm), "") << reduction;
}

// ---- splits ----

TEST(SplitsInACluster, SayWhereTheyCannotBe) {
  const Gemm gemm{{1024, 1024, 8192}};
  const auto words = [](std::string_view rest) {
    return "tile_m=64 tile_n=64 warpgroups=1 reduction=cluster " + std::string(rest);
  };
  for (const char* rest : {"split=16", "split=8 cluster_m=2", "split=12", "split=4 raster=4"})
    EXPECT_EQ(Advice(words(rest), gemm), "") << rest;
  ExpectRefused(words("split=24"), gemm, "24 splits of 1 x 1 tiles are a cluster of 24 CTAs, at most 16");
  ExpectRefused(words("split=8 cluster_m=2 cluster_n=2"), gemm, "a cluster of 32 CTAs");
  ExpectRefused(words("split=4 cluster_m=2 raster=4"), gemm, "raster m or n");
}

// A CTA that waits for one which cannot start before it has ended would wait for ever.
TEST(SplitsThatExchange, NeedAllCtasOnTheGpuAtOnce) {
  const std::string words = "tile_m=128 tile_n=128 split=8 reduction=exchange";
  EXPECT_EQ(Advice(words, {{512, 512, 8192}}), "");
  ExpectRefused(words, {{512, 640, 8192}}, "160 CTAs that wait for each other");
  ExpectRefused("tile_m=64 tile_n=64 warpgroups=1 split=16 reduction=exchange", {{64, 64, 8192}},
                "16 splits cannot keep equal shares of the 8 quads");
}

}  // namespace
}  // namespace gemmsmith
