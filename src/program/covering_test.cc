#include "program/covering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "program/axes.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{256, 512, 4096}};

Device H200() { return *FindDevice("h200"); }

// Values that no plan can have for 256x512x4096 on an H200, as "family parameter=value".
const std::set<std::string> kNeverLegal = {
    "direct split=24",            // 128 rounds of 32 k in shares of 6 are 22 splits, and likewise with longer rounds
    "direct reduction=exchange",  // of the past
    "wgmma schedule=unaided",     // two warpgroups share 128 rows: 128 tiles at most, of 132 and more
    "wgmma ctas=shared",          // long products only
    "wgmma store=tma_first_out",
    "wgmma stream=a",  // both operands stay in L2
    "wgmma stream=b",
    "wgmma keep=1",
    "wgmma keep=2",
    "wgmma keep=3",
    "wgmma keep=4",
    "wgmma keep=6",
    "wgmma keep=8",
    "wgmma keep=1/4",
    "wgmma keep=1/2",
    "wgmma keep=3/4",
    "wgmma keep=3/2",
    "wgmma place=near",           // 0.01 ms
    "wgmma walk=back_and_forth",  // both operands stay in L2
    "wgmma walk=alternating",
    "wgmma kept=lines",
};

TEST(CoveringPlans, HoldEveryLegalValueOfEveryParameterOfEveryFamily) {
  const std::vector<Plan> covering = CoveringPlans(kGemm, H200(), 1);
  for (const Family& family : Families())
    for (size_t axis = 0; axis < family.parameters.size(); ++axis)
      for (const int value : family.parameters[axis].values) {
        const bool covered = std::any_of(covering.begin(), covering.end(), [&](const Plan& plan) {
          return plan.family == family.id && plan.values[axis] == value;
        });
        const Parameter& parameter = family.parameters[axis];
        const std::string name =
            std::string(family.name) + " " + std::string(parameter.name) + "=" + parameter.Print(value);
        EXPECT_NE(covered, kNeverLegal.contains(name)) << name;
      }
}

TEST(CoveringPlans, AreFewLegalAndDistinct) {
  for (const Gemm& gemm :
       {kGemm, Gemm{{64, 64, 2048}}, Gemm{{17, 31, 63}, {kNn, ScalarType::kBf16}}, Gemm{{1, 1, 1}}}) {
    const std::vector<Plan> covering = CoveringPlans(gemm, H200(), 2);
    EXPECT_LT(covering.size(), 160u);
    EXPECT_FALSE(covering.empty()) << Print(gemm);
    EXPECT_EQ(std::set<Plan>(covering.begin(), covering.end()).size(), covering.size());
    for (const Plan& plan : covering) EXPECT_TRUE(Check(plan, gemm, H200()).empty()) << Print(plan);
  }
}

TEST(CoveringPlans, HoldTheTilesAndClustersOfEverySchedule) {
  const Gemm gemm{{4096, 4096, 512}};
  const std::vector<Plan> covering = CoveringPlans(gemm, H200(), 1);
  const auto holds = [&](Schedule schedule, std::string_view parameter, int value) {
    return std::any_of(covering.begin(), covering.end(), [&](const Plan& plan) {
      return plan.family == FamilyId::kWgmma && plan.Get("schedule") == int(schedule) && plan.Get(parameter) == value;
    });
  };
  for (const Schedule schedule :
       {Schedule::kOneTile, Schedule::kCooperative, Schedule::kPingPong, Schedule::kUnaided}) {
    for (int tile_n = 8; tile_n <= 256; tile_n += 8) EXPECT_TRUE(holds(schedule, "tile_n", tile_n)) << tile_n;
    for (const int cluster : {1, 2, 4}) EXPECT_TRUE(holds(schedule, "cluster_m", cluster)) << cluster;
    for (const int raster : {0, 1, 2, 4, 8, 16}) EXPECT_TRUE(holds(schedule, "raster", raster)) << raster;
  }
  for (const Schedule schedule : {Schedule::kOneTile, Schedule::kCooperative, Schedule::kUnaided})
    EXPECT_TRUE(holds(schedule, "finish", 1)) << "in turn";
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
