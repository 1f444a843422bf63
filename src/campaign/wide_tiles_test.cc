#include "campaign/wide_tiles.h"

#include <gtest/gtest.h>

#include "program/cost.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

const Device kDevice = *FindDevice("h200");

std::vector<Plan> For(const Shape& shape, size_t count, const Layout& layout = kTn) {
  return WideTiles({shape, {layout}}, kDevice, count);
}

std::string TileOf(const Plan& plan) {
  return std::to_string(plan.Get("tile_m")) + "x" + std::to_string(plan.Get("tile_n"));
}

// Each was the fastest of its race in data/h200/waves; the first and the third of five in data/h200/unaided, too.
TEST(WideTiles, TheFirstFillsTheWaves) {
  EXPECT_EQ(TileOf(For({8192, 8192, 16384}, 1).at(0)), "256x200") << "9.9 waves, where 256x192 has 10.4";
  EXPECT_EQ(TileOf(For({12288, 2048, 8192}, 1).at(0)), "256x192") << "exactly four waves";
  const Plan unaided = For({12288, 1024, 12288}, 1).at(0);
  EXPECT_EQ(TileOf(unaided), "192x256") << "256 tiles for 132 multiprocessors";
  EXPECT_EQ(unaided.Get("warpgroups"), 3);
}

TEST(WideTiles, AreLegalAndDifferentInEitherLayoutAndTheirWavesAreSquare) {
  for (const Layout& layout : {kTn, kNn}) {
    const Gemm gemm{{16384, 16384, 8192}, {layout}};
    const std::vector<Plan> plans = WideTiles(gemm, kDevice, 4);
    ASSERT_EQ(plans.size(), 4u);
    for (size_t i = 0; i < plans.size(); ++i) {
      EXPECT_TRUE(IsLegal(plans[i], gemm, kDevice)) << Print(plans[i]);
      for (size_t j = 0; j < i; ++j) EXPECT_NE(TileOf(plans[i]), TileOf(plans[j]));
      Plan by_columns = plans[i];
      by_columns.Set("raster", 0);
      EXPECT_LT(WaveBytes(plans[i], gemm, kDevice), 0.6 * WaveBytes(by_columns, gemm, kDevice));
    }
  }
}

TEST(WideTiles, ThereAreNoneWhereKIsShortOrTheTilesAreFew) {
  EXPECT_TRUE(For({8192, 8192, 4096}, 2).empty());
  EXPECT_TRUE(For({1024, 1024, 16384}, 2).empty());
}

}  // namespace
}  // namespace gemmsmith
