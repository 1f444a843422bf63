#include "policy/plan_mask.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "policy/spoken.h"
#include "policy/tokens.h"
#include "problem/example_device.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

const Gemm kGemm = {.shape = {256, 512, 4096}};

// Draws among the allowed words, as a policy without knowledge would. Reads the words back.
std::optional<Plan> SamplePlan(const PlanMask& mask, Random& random) {
  PlanPrefix prefix;
  std::vector<Token> tokens;
  while (!prefix.IsWhole()) {
    const std::vector<Token> allowed = mask.AllowedAfter(prefix).words;
    if (allowed.empty()) return std::nullopt;
    tokens.push_back(allowed[random.Below(allowed.size())]);
    prefix.Take(tokens.back());
  }
  EXPECT_EQ(*DecodePlan(tokens), prefix.plan());
  return prefix.plan();
}

TEST(PlanMaskTest, EverySampledPlanCanBeReadAndEveryValueOccurs) {
  Random random(1);
  std::set<std::pair<FamilyId, std::string>> seen;
  for (int draw = 0; draw < 5000; ++draw) {
    const Plan plan = *SamplePlan(AnyPlanMask(), random);
    const Family& family = GetFamily(plan.family);
    EXPECT_TRUE(IsSpokenWhole(plan));
    for (size_t axis = 0; axis < SpokenAxisCount(family); ++axis)
      seen.emplace(plan.family, std::string(family.axes[axis].name) + "=" + family.axes[axis].Print(plan.values[axis]));
  }
  size_t values = 0;
  for (const Family& family : Families())
    for (size_t i = 0; i < SpokenAxisCount(family); ++i) values += SpokenValues(family, i).size();
  EXPECT_EQ(seen.size(), values);
}

TEST(PlanMaskTest, PlansSampledUnderTheLegalMaskAreWorthTrying) {
  Random random(2);
  for (const Gemm& gemm : {kGemm, Gemm{.shape = {64, 64, 64}, .kind = {kNn}}, Gemm{.shape = {8192, 8192, 8192}},
                           Gemm{.shape = {17, 31, 63}}, Gemm{.shape = {1, 4096, 4096}}}) {
    const LegalPlanMask mask(gemm, H200(), RankedPlans(gemm, H200(), 1024));
    std::set<Plan> seen;
    for (int i = 0; i < 200; ++i) {
      const Plan plan = *SamplePlan(mask, random);
      EXPECT_TRUE(IsWorthTrying(plan, gemm, H200())) << Print(plan) << " for " << Print(gemm);
      seen.insert(plan);
    }
    EXPECT_GT(seen.size(), 150u) << Print(gemm);
  }
}

TEST(PlanMaskTest, TheLegalMaskReachesPlansThatAreNoWitnesses) {
  const std::vector<Plan> witnesses = RankedPlans(kGemm, H200(), 1024);
  const LegalPlanMask mask(kGemm, H200(), witnesses);
  const Space known(witnesses);
  Random random(3);
  int unknown = 0;
  for (int i = 0; i < 200; ++i) unknown += known.Contains(*SamplePlan(mask, random)) ? 0 : 1;
  EXPECT_GT(unknown, 100);
}

TEST(PlanMaskTest, WithoutALegalWitnessNothingIsAllowed) {
  const Plan illegal = DefaultPlan(FamilyId::kWgmma);
  EXPECT_TRUE(LegalPlanMask({.shape = {1, 1, 1}}, H200(), std::span(&illegal, 1)).AllowedAfter({}).words.empty());
}

TEST(PlanMaskTest, TheMaskOfASpaceLeadsToAllItsPlansAndNoOthers) {
  const Space space(RankedPlans(kGemm, H200(), 60));
  SpacePlanMask mask(space);
  Random random(4);
  std::set<Plan> seen;
  while (std::optional<Plan> plan = SamplePlan(mask, random)) {
    EXPECT_TRUE(space.Contains(*plan));
    EXPECT_TRUE(seen.insert(*plan).second);
    EXPECT_TRUE(mask.Strike(*plan));
    EXPECT_FALSE(mask.Strike(*plan));
    EXPECT_EQ(mask.remaining(), space.size() - seen.size());
  }
  EXPECT_EQ(seen.size(), space.size());
  EXPECT_FALSE(mask.Strike(DefaultPlan(FamilyId::kDirect)));
}

TEST(PlanMaskTest, PlansThatTheWordsCannotSayAreNotDrawnFromASpace) {
  const Plan plain = *ParsePlan("wgmma schedule=pingpong"), last = *ParsePlan("wgmma schedule=pingpong trigger=last"),
             placed = *ParsePlan("wgmma schedule=pingpong raster=8 place=near");
  const Space space(std::vector<Plan>{plain, last, placed});
  SpacePlanMask mask(space);
  EXPECT_EQ(mask.remaining(), 1u);
  Random random(4);
  EXPECT_EQ(SamplePlan(mask, random), plain);
  EXPECT_TRUE(mask.Strike(plain));
  EXPECT_EQ(mask.remaining(), 0u);
  EXPECT_EQ(SamplePlan(mask, random), std::nullopt);
}

}  // namespace
}  // namespace gemmsmith
