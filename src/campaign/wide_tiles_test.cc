#include "campaign/wide_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "program/cost.h"
#include "program/legality.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

const Device kDevice = *FindDevice("h200");

std::vector<Plan> For(const Shape& shape, size_t count, const Layout& layout = kTn) {
  return WideTiles({shape, {layout}}, kDevice, count);
}

bool SharesRest(const Plan& plan) { return WgmmaPlan(plan).shares_rest(); }

std::string TileOf(const Plan& plan) {
  return std::to_string(plan.Get("tile_m")) + "x" + std::to_string(plan.Get("tile_n"));
}

// Each was the fastest of its race on H200s.
TEST(WideTiles, TheFirstThatSharesNothingFillsTheWaves) {
  const auto first = [](const Shape& shape) {
    const std::vector<Plan> plans = For(shape, 1);
    return *std::ranges::find_if_not(plans, SharesRest);
  };
  EXPECT_EQ(TileOf(first({8192, 8192, 16384})), "256x200") << "9.9 waves, where 256x192 has 10.4";
  EXPECT_EQ(TileOf(first({12288, 2048, 8192})), "256x192") << "exactly four waves";
  const Plan unaided = first({12288, 1024, 12288});
  EXPECT_EQ(TileOf(unaided), "192x256") << "256 tiles for 132 multiprocessors";
  EXPECT_EQ(unaided.Get("warpgroups"), 3);
}

TEST(WideTiles, AreLegalAndDifferentInEitherLayoutAndTheirWavesAreSquare) {
  for (const Layout& layout : {kTn, kNn}) {
    const Gemm gemm{{16384, 16384, 8192}, {layout}};
    const std::vector<Plan> plans = WideTiles(gemm, kDevice, 4);
    EXPECT_EQ(std::ranges::count_if(plans, std::not_fn(SharesRest)), 4);
    EXPECT_GE(std::ranges::count_if(plans, SharesRest), 2);
    for (size_t i = 0; i < plans.size(); ++i) {
      EXPECT_TRUE(IsLegal(plans[i], gemm, kDevice)) << Print(plans[i]);
      for (size_t j = 0; j < i; ++j)
        EXPECT_TRUE(TileOf(plans[i]) != TileOf(plans[j]) || SharesRest(plans[i]) != SharesRest(plans[j]));
      Plan by_columns = plans[i];
      by_columns.Set("raster", 0);
      EXPECT_LT(WaveBytes(plans[i], gemm, kDevice), 0.6 * WaveBytes(by_columns, gemm, kDevice));
    }
  }
}

// The fastest of their races on H200s.
TEST(WideTiles, TheLongestProductsShareWhatWholeTurnsLeaveOver) {
  for (const Shape& shape : {Shape{12288, 12288, 16384}, Shape{12288, 12288, 4096}, Shape{4096, 12288, 16384}}) {
    const Plan first = For(shape, 1).at(0);
    EXPECT_TRUE(SharesRest(first)) << Print(first);
    EXPECT_EQ(TileOf(first), "256x192");
  }
  EXPECT_EQ(For({8192, 8192, 16384}, 1).size(), 2u) << "of either kind";
  EXPECT_EQ(For({8192, 8192, 4096}, 1).size(), 2u) << "of the longest K may be shorter";
  for (const Plan& plan : For({4096, 4096, 8192}, 4)) EXPECT_FALSE(SharesRest(plan)) << "too short";
}

TEST(WideTiles, ThereAreNoneWhereKIsShortOrTheTilesAreFew) {
  EXPECT_TRUE(For({8192, 4096, 4096}, 2).empty());
  EXPECT_TRUE(For({16384, 16384, 2048}, 2).empty());
  EXPECT_TRUE(For({1024, 1024, 16384}, 2).empty());
}

}  // namespace
}  // namespace gemmsmith
