#include "program/wgmma/wgmma_launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program/emit.h"
#include "program/wgmma/example_plans.h"

namespace gemmsmith {
namespace {

// ---- persistent schedules ----

TEST(PersistentLaunch, HasACtaATileAlongXThatIsCutToTheGpu) {
  const Launch launch = LaunchFor(Wgmma("schedule=pingpong tile_n=192 cluster_m=2 raster=n"), {{4096 + 64, 4096, 512}});
  EXPECT_TRUE(launch.fills_gpu);
  EXPECT_EQ(launch.grid, (Dim3{34 * 22, 1, 1})) << "33 rows of tiles in clusters of two rows";
  EXPECT_EQ(launch.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(launch.workspace_bytes, 0u);
  EXPECT_TRUE(launch.deterministic);
  EXPECT_FALSE(LaunchFor(Wgmma("tile_n=192"), {{4096, 4096, 512}}).fills_gpu);
}

TEST(PersistentLaunch, MayHaveNoMoreCtasThanKeepTheNumberOfWaves) {
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
      << "34 x 16 tiles, 272 clusters: five waves of 55";
  EXPECT_EQ(CtasToLaunch(LaunchFor(Wgmma("tile_n=256"), {shape}), 132), 32u) << "one tile a CTA: the grid is the grid";
}

TEST(PersistentLaunch, StoresBoxesOfAWarpgroupsRows) {
  const auto box_of_c = [](std::string_view words) {
    return LaunchFor(Wgmma("store=tma " + std::string(words)), {{4096, 4096, 512}}).maps.at(2).box;
  };
  EXPECT_EQ(box_of_c("schedule=pingpong"), (std::array<uint32_t, 3>{64, 64, 0}));
  EXPECT_EQ(box_of_c("schedule=cooperative tile_n=96"), (std::array<uint32_t, 3>{32, 64, 0}));
  EXPECT_EQ(box_of_c(""), (std::array<uint32_t, 3>{64, 16, 0}));
}

TEST(PersistentLaunch, HasAKernelAndALauncherOfItsOwn) {
  const Gemm gemm{{4096, 4096, 512}};
  EXPECT_NE(Emit(Wgmma("schedule=pingpong"), gemm).text.find("PersistentKernel"), std::string::npos);
  EXPECT_EQ(Emit(Wgmma(""), gemm).text.find("PersistentKernel"), std::string::npos);
  const std::string standalone = EmitStandalone(Wgmma("schedule=cooperative"), gemm);
  EXPECT_NE(standalone.find("cudaOccupancyMaxActiveClusters"), std::string::npos);
}

// ---- orders of A and B ----

using Box = std::array<uint32_t, 3>;

// B's map with m for n: what staged B staged A.
TEST(ColumnMajorA, HasTheMapOfARowMajorBOfTheTransposedProduct) {
  const auto map_of = [](std::string_view words, const Gemm& gemm, size_t operand) {
    TensorMap map = LaunchFor(Wgmma("warpgroups=1 " + std::string(words)), gemm).maps.at(operand);
    map.matrix = TensorMap::Matrix::kA;
    return map;
  };
  const auto expect_same = [&](std::string_view words, std::string_view transposed, const Shape& shape) {
    const TensorMap a = map_of(words, {shape, {kColumnRow}}, 0);
    EXPECT_EQ(a, map_of(transposed, {{shape.n, shape.m, shape.k}, {kNn}}, 1)) << words;
    EXPECT_EQ(a, map_of(words, {shape, {kColumnColumn}}, 0)) << words;
  };
  expect_same("tile_m=128 tile_n=64", "tile_m=64 tile_n=128", {4096, 2048, 1024});
  expect_same("tile_m=128 tile_n=64 cluster_n=2", "tile_m=64 tile_n=128 cluster_m=2", {4096, 2048, 1024});
  expect_same("tile_m=192 tile_n=64 cluster_n=2", "tile_m=64 tile_n=192 cluster_m=2", {4096, 2048, 1024});
  expect_same("tile_m=96 tile_n=64 roles=swapped", "tile_m=64 tile_n=96", {1000, 2048, 1024});
}

TEST(ColumnMajorA, IsCopiedAsPanelsOfRowsWithALineForEachK) {
  const auto map_of_a = [](std::string_view words, const Shape& shape) {
    return LaunchFor(Wgmma(words), {shape, {kColumnRow}}).maps.at(0);
  };
  const TensorMap deep = map_of_a("", {4096, 2048, 1000});
  EXPECT_EQ(deep.box, (Box{64, 64, 2})) << "two panels of 64 rows";
  EXPECT_EQ(deep.extent, (std::array<uint64_t, 3>{64, 1000, 64}));
  EXPECT_EQ(deep.stride_bytes, (std::array<uint64_t, 2>{8192, 128}));
  EXPECT_EQ(map_of_a("", {4104, 2048, 1000}).box, (Box{64, 64, 0})) << "a panel would go on in the next line";
  EXPECT_EQ(map_of_a("cluster_n=2", {4096, 2048, 1000}).box, (Box{64, 64, 0})) << "a panel for each CTA";
  EXPECT_EQ(map_of_a("cluster_n=4", {4096, 2048, 1000}).box, (Box{64, 16, 0})) << "a quarter of the lines";
  EXPECT_EQ(map_of_a("roles=swapped tile_m=48", {96, 2048, 1000}).swizzle_bytes, 32u) << "panels of 16 rows";
}

TEST(ColumnMajorA, IsAConstantOfTheEmittedConfig) {
  const auto has = [](const Layout& layout, std::string_view constant) {
    const Gemm gemm{{4096, 2048, 1024}, {layout}};
    return Emit(Wgmma(""), gemm).text.find(constant) != std::string::npos;
  };
  EXPECT_TRUE(has(kColumnRow, "kColumnMajorA = true;") && has(kColumnRow, "kRowMajorB = true;"));
  EXPECT_TRUE(has(kColumnColumn, "kColumnMajorA = true;") && has(kColumnColumn, "kRowMajorB = false;"));
  EXPECT_TRUE(has(kTn, "kColumnMajorA = false;"));
}

// ---- streamed operands ----

TEST(StreamedOperand, IsFetchedByShorterPiecesWhereItIsLong) {
  using Bytes = std::vector<uint32_t>;
  const auto fetched = [](std::string_view words, const Shape& shape, Layout layout) {
    const Launch launch = LaunchFor(Wgmma(fmt::format("tile_m=64 warpgroups=1 {}", words)), {shape, {layout}});
    Bytes bytes;
    for (const TensorMap& map : launch.maps) bytes.push_back(map.fetch_bytes);
    return bytes;
  };
  for (const Layout& layout : kLayouts) {
    EXPECT_EQ(fetched("stream=b store=tma", {64, 12288, 8192}, layout), (Bytes{256, 128, 256})) << "201 MB";
    EXPECT_EQ(fetched("stream=b", {64, 8192, 8192}, layout), (Bytes{256, 256})) << "134 MB";
    EXPECT_EQ(fetched("", {64, 12288, 8192}, layout), (Bytes{256, 256})) << "not streamed";
    EXPECT_EQ(fetched("stream=a tile_n=64", {12288, 64, 8192}, layout), (Bytes{128, 256}));
    EXPECT_EQ(fetched("stream=b", {12288, 12288, 8192}, layout), (Bytes{256, 128})) << "not the other one";
    EXPECT_EQ(fetched("stream=a", {12288, 12288, 8192}, layout), (Bytes{128, 256})) << "not the other one";
  }
}

TEST(StreamedOperand, IsKnownToTheKernel) {
  const Gemm gemm{{128, 16384, 8192}};
  const auto has = [&](std::string_view words, std::string_view constant) {
    return Emit(Wgmma(words), gemm).text.find(constant) != std::string::npos;
  };
  EXPECT_TRUE(has("stream=b", "kStreamsA = false;") && has("stream=b", "kStreamsB = true;"));
  EXPECT_TRUE(has("stream=a", "kStreamsA = true;") && has("stream=a", "kStreamsB = false;"));
}

// ---- splits ----

// Tiles that stand in a cluster of splits copy for themselves: no slices, no multicast.
TEST(SplitsInACluster, StandBesideTheSplitsOfOtherTiles) {
  const Gemm gemm{{256, 512, 4096}};
  const Plan plan = Wgmma("tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=cluster cluster_m=2 cluster_n=2");
  ASSERT_TRUE(IsWorthTrying(plan, gemm, H200()));
  const Launch launch = LaunchFor(plan, gemm);
  EXPECT_EQ(launch.grid, (Dim3{4, 8, 4}));
  EXPECT_EQ(launch.cluster, (Dim3{2, 2, 4}));
  EXPECT_EQ(launch.workspace_bytes, 0u);
  EXPECT_FALSE(launch.is_cooperative);
  EXPECT_TRUE(launch.deterministic);
  EXPECT_EQ(launch.maps[0].box[1], 64u) << "all rows of A";
  const std::string text = Emit(plan, gemm).text;
  for (const char* constant : {"kClusterM = 1;", "kClusterN = 1;", "kGroupM = 2;", "kGroupN = 2;"})
    EXPECT_NE(text.find(constant), std::string::npos) << constant;
}

TEST(SplitsThatAdd, HaveACounterAndTheSumsOfEachTile) {
  const Launch launch = LaunchFor(Wgmma("tile_m=64 tile_n=32 split=8"), {{128, 64, 4096}});
  EXPECT_EQ(launch.grid, (Dim3{2, 2, 8}));
  EXPECT_EQ(launch.workspace_bytes, 256u + 4 * 64 * 32 * 4);
  EXPECT_FALSE(launch.deterministic);
  EXPECT_FALSE(launch.is_cooperative);
}

TEST(SplitsThatExchange, HaveASlotEach) {
  const Launch launch = LaunchFor(Wgmma("tile_m=64 tile_n=32 split=8 reduction=exchange"), {{128, 64, 4096}});
  EXPECT_EQ(launch.workspace_bytes, 256u + 4 * 8 * 64 * 32 * 4);
  EXPECT_TRUE(launch.deterministic);
  EXPECT_TRUE(launch.is_cooperative);
}

// ---- swapped roles ----

// The grid, the clusters and the copies of the operands are those of tiles of C for either role.
TEST(SwappedRoles, ChangeTheBoxesOfCOnly) {
  for (const Layout& layout : kLayouts) {
    const Gemm gemm{{4096, 2048, 1024}, {layout}};
    const std::string words = "cluster_m=2 raster=n warpgroups=1 store=tma roles=";
    Launch swapped = LaunchFor(Wgmma(words + "swapped"), gemm);
    EXPECT_EQ(swapped.maps.at(2).box, (std::array<uint32_t, 3>{64, 128, 0})) << "all rows of the tile";
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

TEST(SwappedRoles, AreAConstantOfTheEmittedConfig) {
  const Gemm gemm{{4096, 4096, 512}};
  EXPECT_NE(Emit(Wgmma("roles=swapped"), gemm).text.find("kSwapped = true;"), std::string::npos);
  EXPECT_NE(Emit(Wgmma(""), gemm).text.find("kSwapped = false;"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
