#include "problem/example_device.h"
#include "program/covering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "program/family.h"
#include "program/legality.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{256, 512, 4096}};

// Live values that no plan worth trying has for 256x512x4096 on an H200, as "family axis=value".
const std::set<std::string> kNeverWorthTrying = {
    "wgmma store=tma_first_out",
    "wgmma stream=a",  // both operands stay in L2
    "wgmma stream=b",
};

TEST(CoveringPlans, HoldEveryLiveValueOfEveryAxisAndNoRetiredOne) {
  const std::vector<Plan> covering = CoveringPlans(kGemm, H200(), 1);
  for (const Family& family : Families())
    for (size_t i = 0; i < family.axes.size(); ++i)
      for (const int value : family.axes[i].values) {
        const Axis& axis = family.axes[i];
        const bool covered = std::any_of(covering.begin(), covering.end(), [&](const Plan& plan) {
          return plan.family == family.id && plan.values[i] == value;
        });
        const std::string name = std::string(family.name) + " " + std::string(axis.name) + "=" + axis.Print(value);
        EXPECT_EQ(covered, axis.IsLive(value) && !kNeverWorthTrying.contains(name)) << name;
      }
}

TEST(CoveringPlans, AreFewDistinctAndWorthTrying) {
  for (const Gemm& gemm :
       {kGemm, Gemm{{64, 64, 2048}}, Gemm{{17, 31, 63}, {kNn, ScalarType::kBf16}}, Gemm{{1, 1, 1}}}) {
    const std::vector<Plan> covering = CoveringPlans(gemm, H200(), 2);
    EXPECT_LT(covering.size(), 160u);
    EXPECT_FALSE(covering.empty()) << Print(gemm);
    EXPECT_EQ(std::set<Plan>(covering.begin(), covering.end()).size(), covering.size());
    for (const Plan& plan : covering) EXPECT_TRUE(IsWorthTrying(plan, gemm, H200())) << Print(plan);
  }
}

TEST(CoveringPlans, HoldTheTilesAndClustersOfEverySchedule) {
  const Gemm gemm{{4096, 4096, 512}};
  const std::vector<Plan> covering = CoveringPlans(gemm, H200(), 1);
  const auto holds = [&](Schedule schedule, std::string_view axis, int value) {
    return std::any_of(covering.begin(), covering.end(), [&](const Plan& plan) {
      return plan.family == FamilyId::kWgmma && plan.Get("schedule") == int(schedule) && plan.Get(axis) == value;
    });
  };
  for (const Schedule schedule : {Schedule::kOneTile, Schedule::kCooperative, Schedule::kPingPong}) {
    for (int tile_n = 8; tile_n <= 256; tile_n += 8) EXPECT_TRUE(holds(schedule, "tile_n", tile_n)) << tile_n;
    for (const int cluster : {1, 2, 4}) EXPECT_TRUE(holds(schedule, "cluster_m", cluster)) << cluster;
    for (const int raster : {0, 1, 2, 4, 8, 16}) EXPECT_TRUE(holds(schedule, "raster", raster)) << raster;
  }
  for (const Schedule schedule : {Schedule::kOneTile, Schedule::kCooperative})
    EXPECT_TRUE(holds(schedule, "finish", 1)) << "staggered";
  for (const Schedule schedule : {Schedule::kOneTile, Schedule::kCooperative, Schedule::kPingPong})
    for (int tile_m = 8; tile_m <= 256; tile_m += 8)
      EXPECT_TRUE(std::any_of(covering.begin(), covering.end(),
                              [&](const Plan& plan) {
                                return plan.family == FamilyId::kWgmma && plan.Get("schedule") == int(schedule) &&
                                       plan.Get("roles") == int(Roles::kSwapped) && plan.Get("tile_m") == tile_m;
                              }))
          << "swapped, " << tile_m;
  EXPECT_TRUE(holds(Schedule::kCooperative, "warpgroups", 3));
  EXPECT_FALSE(holds(Schedule::kPingPong, "warpgroups", 3));
}

TEST(CoveringPlans, RepeatForASeedAndDifferBetweenSeeds) {
  EXPECT_EQ(CoveringPlans(kGemm, H200(), 3), CoveringPlans(kGemm, H200(), 3));
  EXPECT_NE(CoveringPlans(kGemm, H200(), 3), CoveringPlans(kGemm, H200(), 4));
}

TEST(CoveringPlans, AreNoneForAProblemThatIsNone) {
  EXPECT_TRUE(CoveringPlans({{64, 64, 64}, {}, 63}, H200(), 1).empty());
}

}  // namespace
}  // namespace gemmsmith
