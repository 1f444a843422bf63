#include "program/random_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "problem/example_device.h"
#include "program/legality.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {
namespace {

TEST(RandomPlan, IsWorthTryingHasTheValuesAskedForAndIsNotAlwaysTheSame) {
  const Family& family = GetFamily(FamilyId::kWgmma);
  const std::vector<AxisValue> settings{{size_t(family.IndexOf("schedule")), int(Schedule::kPingPong)},
                                        {size_t(family.IndexOf("stages")), 4}};
  Random random(1);
  std::set<Plan> plans;
  for (const Gemm& gemm : {Gemm{{512, 640, 1000}}, Gemm{{2048, 2048, 256}, {kNn, ScalarType::kBf16}}})
    for (int i = 0; i < 20; ++i) {
      const std::optional<Plan> plan = RandomPlan(family, settings, gemm, H200(), random);
      ASSERT_TRUE(plan);
      EXPECT_TRUE(IsWorthTrying(*plan, gemm, H200())) << Print(*plan);
      for (const auto& [axis, value] : settings) EXPECT_EQ(plan->values[axis], value) << Print(*plan);
      plans.insert(*plan);
    }
  EXPECT_GT(plans.size(), 35u);
}

TEST(RandomPlan, IsTheSameForEqualSeeds) {
  const Gemm gemm{{300, 200, 100}};
  for (const Family& family : Families()) {
    Random first(7), second(7);
    EXPECT_EQ(RandomPlan(family, {}, gemm, H200(), first), RandomPlan(family, {}, gemm, H200(), second));
  }
}

TEST(RandomPlan, IsNoneWhereNoneIsWorthTrying) {
  const Family& family = GetFamily(FamilyId::kWgmma);
  const std::vector<AxisValue> settings{{size_t(family.IndexOf("stream")), int(Stream::kB)}};  // small operands
  Random random(2);
  EXPECT_FALSE(RandomPlan(family, settings, {{64, 64, 64}}, H200(), random));
}

}  // namespace
}  // namespace gemmsmith
