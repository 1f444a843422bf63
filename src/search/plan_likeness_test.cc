#include "search/plan_likeness.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr LikenessShares kShares = {.family = 0.2, .axes = 0.5, .whole = 0.3, .reach = 1};

Plan Direct(int tile_m, int tile_n) {
  Plan plan = DefaultPlan(FamilyId::kDirect);
  plan.Set("tile_m", tile_m);
  plan.Set("tile_n", tile_n);
  return plan;
}

double Of(const Space& space, const Plan& first, const Plan& second) {
  return PlanLikeness(space, kShares).Of(*space.IndexOf(first), *space.IndexOf(second));
}

TEST(PlanLikenessTest, IsOneForAPlanAndItselfAndFallsWithEveryStep) {
  const Space space({Direct(16, 8), Direct(32, 8), Direct(64, 8), Direct(64, 64)});
  EXPECT_NEAR(Of(space, Direct(16, 8), Direct(16, 8)), 1, 1e-9);
  const double step = Of(space, Direct(16, 8), Direct(32, 8)), steps = Of(space, Direct(16, 8), Direct(64, 8)),
               far = Of(space, Direct(16, 8), Direct(64, 64));
  EXPECT_LT(step, 1);
  EXPECT_LT(steps, step);
  EXPECT_LT(far, steps);
  EXPECT_GT(far, 0.2);  // one family
  EXPECT_EQ(step, Of(space, Direct(32, 8), Direct(16, 8)));
}

TEST(PlanLikenessTest, AxesThatNoPlanDiffersInDoNotCount) {
  Plan other = Direct(32, 8);
  other.Set("chunks", 4);
  const Space alike({Direct(16, 8), Direct(32, 8)}), unlike({Direct(16, 8), Direct(32, 8), other});
  EXPECT_LT(Of(alike, Direct(16, 8), Direct(32, 8)), Of(unlike, Direct(16, 8), Direct(32, 8)));
}

TEST(PlanLikenessTest, FamiliesShareTheAxesOfOneName) {
  Plan near = DefaultPlan(FamilyId::kWgmma), far = DefaultPlan(FamilyId::kWgmma);
  near.Set("tile_m", 64), far.Set("tile_m", 256);
  const Space space({Direct(64, 8), near, far});
  EXPECT_GT(Of(space, Direct(64, 8), near), Of(space, Direct(64, 8), far));
}

TEST(PlanLikenessTest, ASpaceOfOnePlanIsLikeItself) {
  const Space space({Direct(16, 8)});
  EXPECT_NEAR(Of(space, Direct(16, 8), Direct(16, 8)), 1, 1e-9);
}

}  // namespace
}  // namespace gemmsmith
