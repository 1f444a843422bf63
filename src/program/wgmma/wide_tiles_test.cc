#include "program/wgmma/wide_tiles.h"

#include <gtest/gtest.h>

#include "program/wgmma/example_plans.h"
#include "program/wgmma/wgmma_cost.h"

namespace gemmsmith {
namespace {

std::vector<Plan> For(const Shape& shape, size_t count, const Layout& layout = kTn) {
  return WideTiles({shape, {layout}}, H200(), count);
}

std::string TileOf(const Plan& plan) {
  return std::to_string(plan.Get("tile_m")) + "x" + std::to_string(plan.Get("tile_n"));
}

// Each was the fastest of its kind in a race on an H200.
TEST(WideTiles, TheFirstFillsTheWaves) {
  EXPECT_EQ(TileOf(For({8192, 8192, 16384}, 1).at(0)), "256x200") << "9.9 waves, where 256x192 has 10.4";
  EXPECT_EQ(TileOf(For({12288, 2048, 8192}, 1).at(0)), "256x192") << "exactly four waves";
}

TEST(WideTiles, AreWorthTryingAndDistinctInEitherLayoutAndTheirWavesAreSquare) {
  for (const Layout& layout : {kTn, kNn}) {
    const Gemm gemm{{16384, 16384, 8192}, {layout}};
    const std::vector<Plan> plans = WideTiles(gemm, H200(), 4);
    ASSERT_EQ(plans.size(), 4u);
    for (size_t i = 0; i < plans.size(); ++i) {
      EXPECT_TRUE(IsWorthTrying(plans[i], gemm, H200())) << Print(plans[i]);
      for (size_t j = 0; j < i; ++j) EXPECT_NE(TileOf(plans[i]), TileOf(plans[j]));
      Plan by_columns = plans[i];
      by_columns.Set("raster", kAlongM);
      EXPECT_LT(WaveBytes(WgmmaPlan(plans[i]), gemm, H200()), 0.6 * WaveBytes(WgmmaPlan(by_columns), gemm, H200()));
    }
  }
}

TEST(WideTiles, AreForLongKAndForTheLongestProductsOfShorterK) {
  EXPECT_FALSE(For({12288, 12288, 4096}, 1).empty());
  EXPECT_TRUE(For({8192, 4096, 4096}, 2).empty());
  EXPECT_TRUE(For({16384, 16384, 2048}, 2).empty());
  EXPECT_TRUE(For({1024, 1024, 16384}, 2).empty()) << "few tiles";
}

}  // namespace
}  // namespace gemmsmith
