#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "problem/grids.h"
#include "program/cost.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

const Device& H200() {
  static const Device device = *FindDevice("h200");
  return device;
}

std::vector<Gemm> SomeGemms() {
  return {{{64, 64, 128}}, {{17, 31, 63}, {kNn}}, {{256, 512, 4096}}, {{64, 16384, 64}, {kNn}}, {{4096, 4096, 1024}}};
}

TEST(RankedPlans, EveryShapeHasPlansForBothLayoutsAndTypesOnEveryKnownDevice) {
  for (const Device& device : KnownDevices())
    for (const Shape& shape : {Shape{1, 1, 1}, {17, 31, 63}, {64, 16384, 64}, {1, 1, 1 << 20}, {1 << 20, 1, 1}})
      for (const Layout& layout : {kNn, kTn})
        for (ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
          const Gemm gemm{shape, {layout, type}};
          EXPECT_GT(RankedPlans(gemm, device, 512).size(), 50u) << Print(gemm) << " on " << device.key;
        }
}

TEST(RankedPlans, AreLegalDistinctAndSortedByPrediction) {
  for (const Gemm& gemm : SomeGemms()) {
    const std::vector<Plan> plans = RankedPlans(gemm, H200(), 1000);
    EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), plans.size());
    for (const Plan& plan : plans) ASSERT_TRUE(Check(plan, gemm, H200()).empty()) << Print(plan);
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

// The first plans of a longer list are not all plans of a shorter one: the best geometries of the longer list are
// varied further. But the best of all is the best of both.
TEST(RankedPlans, StartWithTheSamePlanWhateverTheLimit) {
  for (const Gemm& gemm : SomeGemms())
    EXPECT_EQ(RankedPlans(gemm, H200(), 1).at(0), RankedPlans(gemm, H200(), 4096).at(0)) << Print(gemm);
}

// No legal plan drawn at random is predicted faster than the first, and those faster than the last geometry are there
// but for secondary axes.
TEST(RankedPlans, NoRandomLegalPlanIsPredictedFasterThanTheFirst) {
  Random random(3);
  for (const Gemm& gemm : SomeGemms()) {
    const double best_ns = PredictTimeNs(RankedPlans(gemm, H200(), 1).at(0), gemm, H200());
    int legal = 0;
    for (const Family& family : Families())
      for (int i = 0; i < 30000; ++i) {
        Plan plan{family.id};
        for (size_t axis = 0; axis < family.parameters.size(); ++axis) {
          const auto values = family.parameters[axis].values;
          plan.values[axis] = values[random.Below(values.size())];
        }
        if (!IsLegal(plan, gemm, H200())) continue;
        ++legal;
        EXPECT_GE(PredictTimeNs(plan, gemm, H200()), best_ns) << Print(plan);
      }
    EXPECT_GT(legal, 0);
  }
}

TEST(RankedPlans, HoldManyGeometriesAndVaryTheSecondaryAxesOfTheBest) {
  const Gemm gemm{{2048, 2048, 2048}};
  const std::vector<Plan> plans = RankedPlans(gemm, H200(), kLiveSpaceSize);
  std::set<Plan> geometries;
  std::map<std::pair<FamilyId, size_t>, std::set<int>> values;
  for (const Plan& plan : plans) {
    const Family& family = GetFamily(plan.family);
    for (const std::string_view secondary : {"store", "raster", "fixed"})
      if (const int axis = family.IndexOf(secondary); axis >= 0)
        values[{plan.family, size_t(axis)}].insert(plan.values[axis]);
    geometries.insert(GeometryOf(plan));
  }
  EXPECT_GT(geometries.size(), 1000u);
  for (const auto& [axis, seen] : values) EXPECT_GT(seen.size(), 1u) << "parameter " << axis.second;
}

TEST(RankedPlans, OneTileHasOneRaster) {
  for (const Plan& plan : RankedPlans({{64, 64, 4096}}, H200(), kLiveSpaceSize)) {
    const int raster = GetFamily(plan.family).IndexOf("raster");
    if (raster < 0) continue;
    if (plan.Get("tile_m") < 64 || plan.Get("tile_n") < 64) continue;
    EXPECT_EQ(plan.values[raster], GetFamily(plan.family).parameters[raster].values.front()) << Print(plan);
  }
}

}  // namespace
}  // namespace gemmsmith
