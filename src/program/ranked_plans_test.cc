#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "problem/example_device.h"
#include "program/cost.h"
#include "program/family.h"
#include "program/space.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {
namespace {

std::vector<Gemm> SomeGemms() {
  return {{{64, 64, 128}}, {{17, 31, 63}, {kNn}}, {{256, 512, 4096}}, {{64, 16384, 64}, {kNn}}, {{4096, 4096, 1024}}};
}

TEST(RankedPlans, EveryShapeHasPlansForBothLayoutsAndTypesOnEveryKnownDevice) {
  for (const Device& device : KnownDevices())
    for (const Shape& shape : {Shape{1, 1, 1}, {17, 31, 63}, {64, 16384, 64}, {1, 1, 1 << 20}, {1 << 20, 1, 1}})
      for (const GemmKind& kind : {GemmKind{kNn, ScalarType::kF16}, GemmKind{kTn, ScalarType::kBf16}}) {
        const Gemm gemm{shape, kind};
        EXPECT_GT(RankedPlans(gemm, device, 512).size(), 50u) << Print(gemm) << " on " << device.key;
      }
}

TEST(RankedPlans, AreDistinctWorthTryingAndSortedByPrediction) {
  for (const Gemm& gemm : SomeGemms()) {
    const std::vector<Plan> plans = RankedPlans(gemm, H200(), 1000);
    EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), plans.size());
    for (const Plan& plan : plans) ASSERT_TRUE(IsWorthTrying(plan, gemm, H200())) << Print(plan);
    EXPECT_TRUE(std::is_sorted(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) {
      return PredictTimeNs(a, gemm, H200()) < PredictTimeNs(b, gemm, H200());
    }));
  }
}

TEST(RankedPlans, FillTheLimitAndFewerThanThatOnlyWhereThereAreNoMore) {
  for (const size_t limit : {1, 7, 100, 4096}) EXPECT_EQ(RankedPlans({{256, 512, 4096}}, H200(), limit).size(), limit);
  EXPECT_TRUE(RankedPlans({{256, 512, 4096}}, H200(), 0).empty());
  EXPECT_TRUE(RankedPlans({{64, 64, 64}, {}, 63}, H200(), 10).empty());
  EXPECT_LT(RankedPlans({{1, 1, 1}}, H200(), 1 << 20).size(), size_t(1 << 20));
}

// A longer list varies its best geometries further, so it does not begin with the whole shorter list. The best plan is
// the same.
TEST(RankedPlans, StartWithTheSamePlanWhateverTheLimit) {
  for (const Gemm& gemm : SomeGemms())
    EXPECT_EQ(RankedPlans(gemm, H200(), 1).at(0), RankedPlans(gemm, H200(), 4096).at(0)) << Print(gemm);
}

// Known dimensions and triggers stand at their screening values.
TEST(RankedPlans, NoRandomPlanIsPredictedFasterThanTheFirst) {
  Random random(3);
  for (const Gemm& gemm : SomeGemms()) {
    const double best_ns = PredictTimeNs(RankedPlans(gemm, H200(), 1).at(0), gemm, H200());
    int found = 0;
    for (const Family& family : Families())
      for (int i = 0; i < 30000; ++i) {
        Plan plan{family.id};
        for (size_t axis = 0; axis < family.axes.size(); ++axis) {
          const std::span<const int> values = family.axes[axis].live_values();
          plan.values[axis] = values[random.Below(values.size())];
        }
        plan = ScreeningForm(plan, H200());
        if (!IsWorthTrying(plan, gemm, H200())) continue;
        ++found;
        EXPECT_GE(PredictTimeNs(plan, gemm, H200()), best_ns) << Print(plan);
      }
    EXPECT_GT(found, 0);
  }
}

TEST(RankedPlans, HoldManyGeometriesAndVaryTheSecondaryAxesOfTheBest) {
  const Gemm gemm{{2048, 2048, 2048}};
  const std::vector<Plan> plans = RankedPlans(gemm, H200(), kLiveSpaceSize);
  std::set<Plan> geometries;
  std::map<std::pair<FamilyId, size_t>, std::set<int>> values;
  for (const Plan& plan : plans) {
    const Family& family = GetFamily(plan.family);
    for (const std::string_view secondary : {"store", "raster"})
      if (const int axis = family.IndexOf(secondary); axis >= 0)
        values[{plan.family, size_t(axis)}].insert(plan.values[axis]);
    geometries.insert(GeometryOf(plan));
  }
  EXPECT_GT(geometries.size(), 1000u);
  for (const auto& [axis, seen] : values) EXPECT_GT(seen.size(), 1u) << "axis " << axis.second;
}

TEST(RankedPlans, OneTileHasOneRaster) {
  for (const Plan& plan : RankedPlans({{64, 64, 4096}}, H200(), kLiveSpaceSize)) {
    const int raster = GetFamily(plan.family).IndexOf("raster");
    if (raster < 0) continue;
    if (plan.Get("tile_m") < 64 || plan.Get("tile_n") < 64) continue;
    EXPECT_EQ(plan.values[size_t(raster)], GetFamily(plan.family).axes[size_t(raster)].values.front()) << Print(plan);
  }
}

TEST(RankedPlans, HoldSwappedRolesOnlyWhereTheySaveTiles) {
  const auto swapped_tiles = [](const Shape& shape) {
    std::set<std::pair<int, int>> tiles;
    for (const Plan& plan : RankedPlans({shape}, H200(), kLiveSpaceSize))
      if (plan.family == FamilyId::kWgmma && plan.Get("roles") == int(Roles::kSwapped))
        tiles.insert({plan.Get("tile_m"), plan.Get("tile_n")});
    return tiles;
  };
  EXPECT_TRUE(swapped_tiles({12288, 128, 4096}).contains({96, 128})) << "128 tiles; 128x96 makes 192";
  EXPECT_FALSE(swapped_tiles({12288, 128, 4096}).contains({128, 128})) << "the same with straight roles";
  EXPECT_TRUE(swapped_tiles({16, 8192, 4096}).contains({16, 64})) << "a straight tile has 48 idle rows";
  EXPECT_TRUE(swapped_tiles({4096, 4096, 1024}).empty()) << "every tile has its mirror image";
}

// As "schedule tile_m x tile_n", each once.
std::vector<std::string> FirstTiles(const Shape& shape, size_t count) {
  std::vector<std::string> tiles;
  for (const Plan& plan : RankedPlans({shape}, H200(), kLiveSpaceSize)) {
    if (plan.family != FamilyId::kWgmma || tiles.size() == count) continue;
    const Axis& schedule = WgmmaAxes()[WgmmaAxis::kSchedule];
    const std::string tile =
        fmt::format("{} {}x{}", schedule.Print(plan.Get("schedule")), plan.Get("tile_m"), plan.Get("tile_n"));
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
  }
  return tiles;
}

// Winners among bare kernels, one or more a class (H200). A search that begins far from them needs luck.
TEST(RankedPlans, LeadWithTilesThatWon) {
  struct Won {
    Shape shape;
    const char* tile;
  };
  const Won won[] = {{{4096, 4096, 64}, "pingpong 128x128"},    {{8192, 2048, 128}, "pingpong 128x128"},
                     {{16384, 512, 256}, "pingpong 64x256"},    {{2048, 2048, 512}, "pingpong 128x128"},
                     {{512, 1024, 4096}, "one 64x64"},          {{16384, 1024, 512}, "pingpong 128x128"},
                     {{16384, 4096, 1024}, "pingpong 128x128"}, {{8192, 8192, 8192}, "cooperative 128x256"},
                     {{256, 12288, 12288}, "one 128x192"}};
  for (const auto& [shape, tile] : won) {
    const std::vector<std::string> first = FirstTiles(shape, 16);
    EXPECT_NE(std::find(first.begin(), first.end(), tile), first.end()) << Print(shape) << " begins with " << first[0];
  }
}

}  // namespace
}  // namespace gemmsmith
