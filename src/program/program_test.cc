#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "problem/grids.h"
#include "program/emit.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

const Device& H200() {
  static const Device device = *FindDevice("h200");
  return device;
}
Plan Direct(std::string_view words) { return *ParsePlan("direct " + std::string(words)); }
bool AnyContains(const std::vector<std::string>& reasons, std::string_view part) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [part](const std::string& reason) { return reason.find(part) != std::string::npos; });
}

TEST(Plan, TextRoundTripsForEveryValueOfEveryParameter) {
  for (const Family& family : Families())
    for (const Parameter& parameter : family.parameters)
      for (int value : parameter.values) {
        Plan plan = DefaultPlan(family.id);
        plan.Set(parameter.name, value);
        EXPECT_EQ(*ParsePlan(Print(plan)), plan) << Print(plan);
      }
}

TEST(Plan, WordsMayComeInAnyOrderAndMissingOnesAreDefaults) {
  EXPECT_EQ(Direct("tile_n=8 tile_m=32"), Direct("tile_m=32  tile_n=8 split=1"));
  EXPECT_EQ(*ParsePlan("direct"), DefaultPlan(FamilyId::kDirect));
}

TEST(Plan, RefusesMalformedTextAndNamesTheNearestWord) {
  for (const char* text :
       {"", "  ", "dirct", "direct tile_m", "direct tile_m=", "direct tile_m=17", "direct tile_m=016x",
        "direct tile_m=16 tile_m=16", "direct =16", "direct reduction=1", "direct split=99999999999"})
    EXPECT_EQ(ParsePlan(text).status().code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(ParsePlan("direct tilem=16").status().message().find("did you mean 'tile_m'"), std::string::npos);
  EXPECT_NE(ParsePlan("direct fixed=maybe").status().message().find("none, k, all"), std::string::npos);
}

TEST(Legality, NamesEveryReason) {
  const Gemm gemm{
      {64, 64, 64}, {{Order::kColumn, Order::kColumn}, ScalarType::kBf16, Accumulation::kF16}, 0, 63 + 8, 0};
  const std::vector<std::string> reasons =
      Check(Direct("tile_m=16 warps_m=4 warps_k=16 reduction=ordered"), gemm, H200());
  for (const char* part :
       {"row-major A", "type is f16, not bf16", "less than one instruction", "64 warps", "stays add", "leaves idle"})
    EXPECT_TRUE(AnyContains(reasons, part)) << part;
}

TEST(Legality, BothFamiliesAccumulateInF16WhatIsF16) {
  for (const char* words : {"direct", "wgmma", "wgmma roles=swapped tile_m=64 tile_n=64 warpgroups=1"}) {
    const auto reasons = [words](ScalarType type) {
      return Check(*ParsePlan(words), {{256, 256, 512}, {kTn, type, Accumulation::kF16}}, H200());
    };
    EXPECT_TRUE(reasons(ScalarType::kF16).empty()) << words;
    ASSERT_EQ(reasons(ScalarType::kBf16).size(), 1u) << words;
    EXPECT_EQ(reasons(ScalarType::kBf16)[0], "matrix instructions accumulate in f16 where the type is f16, not bf16");
  }
}

// The registers of sums that leave the multiplication are those of f32.
TEST(Legality, OfAPlanIsTheSameWhateverTheProblemAccumulatesIn) {
  Random random(3);
  int legal = 0;
  for (const Family& family : Families()) {
    Plan plan = DefaultPlan(family.id);
    for (int i = 0; i < 5000; ++i, plan = i % 20 == 0 ? DefaultPlan(family.id) : Mutate(plan, random)) {
      const Gemm wide{{256, 512, 4096}}, narrow{wide.shape, {kTn, ScalarType::kF16, Accumulation::kF16}};
      EXPECT_EQ(Check(plan, wide, H200()), Check(plan, narrow, H200())) << Print(plan);
      legal += IsLegal(plan, narrow, H200());
    }
  }
  EXPECT_GT(legal, 0);
}

TEST(Legality, AgreesWithItsWordlessTwinOnRandomPlans) {
  Random random(1);
  const std::vector<Gemm> gemms = {{{64, 64, 64}}, {{17, 31, 63}, {kNn}}, {{256, 512, 4096}}, {{1, 1, 1}}};
  int legal = 0;
  for (int i = 0; i < 20000; ++i) {
    const Gemm& gemm = gemms[random.Below(gemms.size())];
    Plan plan = DefaultPlan(FamilyId::kDirect);
    for (int step = 0; step < 4; ++step) plan = Mutate(plan, random);
    EXPECT_EQ(Check(plan, gemm, H200()).empty(), IsLegal(plan, gemm, H200())) << Print(plan);
    legal += IsLegal(plan, gemm, H200());
  }
  EXPECT_GT(legal, 0);
}

TEST(Space, NeighboursDifferInOneParameterAndReachNearlyEveryLegalPlan) {
  const Space space(RankedPlans({{64, 64, 256}}, H200(), kLiveSpaceSize));
  std::set<Plan> reached;
  for (const Family& family : Families())
    reached.insert(*std::find_if(space.plans().begin(), space.plans().end(),
                                 [&family](const Plan& plan) { return plan.family == family.id; }));
  std::vector<Plan> frontier(reached.begin(), reached.end());
  while (!frontier.empty()) {
    const Plan plan = frontier.back();
    frontier.pop_back();
    for (const Plan& neighbour : space.NeighboursOf(plan)) {
      int differences = 0;
      for (int i = 0; i < kMaxParameters; ++i) differences += neighbour.values[i] != plan.values[i];
      ASSERT_EQ(differences, 1);
      if (reached.insert(neighbour).second) frontier.push_back(neighbour);
    }
  }
  // Some plans need two moves at once (more warps and less in flight each); searches reach them by restarts and
  // mutation.
  EXPECT_GT(double(reached.size()), 0.9 * double(space.size()));
}

// Rows of straight wgmma tiles come by 64, which is one step though the axis has smaller ones for swapped roles.
TEST(Space, AStepAlongTileMIs64Rows) {
  const Parameter& tile_m =
      GetFamily(FamilyId::kWgmma).parameters[size_t(GetFamily(FamilyId::kWgmma).IndexOf("tile_m"))];
  EXPECT_EQ(tile_m.StepsBetween(64, 128), 1);
  EXPECT_EQ(tile_m.StepsBetween(256, 64), 3);
  EXPECT_EQ(tile_m.StepsBetween(96, 104), 1);
  EXPECT_EQ(tile_m.StepsBetween(96, 96), 0);
  std::set<int> straight;
  for (const Plan& plan : Neighbours(*ParsePlan("wgmma tile_m=128")))
    if (plan.Get("tile_m") % 64 == 0) straight.insert(plan.Get("tile_m"));
  EXPECT_EQ(straight, (std::set<int>{64, 128, 192}));
}

TEST(Space, MutationAndCrossingAreDeterministicAndStayInTheFamily) {
  Random first(7), second(7);
  Plan plan = DefaultPlan(FamilyId::kDirect);
  for (int i = 0; i < 1000; ++i) {
    const Plan mutant = Mutate(plan, first);
    EXPECT_EQ(mutant, Mutate(plan, second));
    const Plan child = Cross(plan, mutant, first);
    EXPECT_EQ(child, Cross(plan, mutant, second));
    EXPECT_EQ(*ParsePlan(Print(child)), child);
    for (int p = 0; p < kMaxParameters; ++p)
      EXPECT_TRUE(child.values[p] == plan.values[p] || child.values[p] == mutant.values[p]);
    plan = mutant;
  }
}

TEST(Launch, CoversTheMatrixAndSizesTheWorkspace) {
  const Launch plain = LaunchFor(Direct("tile_m=32 tile_n=8 warps_k=4 warps_m=2"), {{65, 17, 4096}});
  EXPECT_EQ(plain.grid, (Dim3{3, 3, 1}));
  EXPECT_EQ(plain.block, (Dim3{256}));
  EXPECT_EQ(plain.smem_bytes, 4u * 32 * 12 * 4);
  EXPECT_EQ(plain.workspace_bytes, 0u);
  EXPECT_EQ(LaunchFor(Direct("tile_m=32 tile_n=8 split=4"), {{65, 17, 4096}}).workspace_bytes, 256u + 9 * 32 * 8 * 4);
  const Launch ordered = LaunchFor(Direct("tile_m=32 tile_n=8 split=4 reduction=ordered"), {{65, 17, 4096}});
  EXPECT_EQ(ordered.workspace_bytes, 256u + 9 * 4 * 32 * 8 * 4);
  EXPECT_EQ(ordered.grid.z, 4u);
}

// A CTA that waits for one which cannot start before it has ended would wait for ever.
TEST(Legality, SplitsExchangeSumsOnlyWhereAllCtasAreOnTheGpuAtOnce) {
  const auto reasons = [](std::string_view plan, const Shape& shape) {
    return Check(*ParsePlan(plan), {shape}, H200());
  };
  constexpr const char* kWgmma = "wgmma tile_m=128 tile_n=128 split=8 reduction=exchange";
  EXPECT_TRUE(reasons(kWgmma, {512, 512, 8192}).empty());
  EXPECT_TRUE(AnyContains(reasons(kWgmma, {512, 640, 8192}), "160 CTAs that wait for each other"));
  EXPECT_TRUE(AnyContains(reasons("wgmma tile_m=64 tile_n=64 warpgroups=1 split=16 reduction=exchange", {64, 64, 8192}),
                          "16 splits cannot keep equal shares of the 8 quads"));
  constexpr const char* kDirect = "direct tile_m=16 tile_n=16 warps_k=8 split=4 reduction=exchange";
  EXPECT_TRUE(AnyContains(reasons(kDirect, {64, 128, 4096}), "no reduction=exchange any more"));
}

TEST(Launch, ExchangedSumsHaveASlotEach) {
  const Launch launch =
      LaunchFor(*ParsePlan("wgmma tile_m=64 tile_n=32 split=8 reduction=exchange"), {{128, 64, 4096}});
  EXPECT_EQ(launch.workspace_bytes, 256u + 4 * 8 * 64 * 32 * 4);
  EXPECT_TRUE(launch.deterministic);
}

TEST(Emit, TextDependsOnTheShapeOnlyWhereThePlanFixesDimensions) {
  const Gemm small{{64, 64, 256}}, large{{128, 64, 512}};
  EXPECT_EQ(Emit(Direct("fixed=none"), small).text, Emit(Direct("fixed=none"), large).text);
  EXPECT_NE(Emit(Direct("fixed=k"), small).text, Emit(Direct("fixed=k"), large).text);
  const Gemm wider{{128, 64, 256}};
  EXPECT_EQ(Emit(Direct("fixed=k"), small).text, Emit(Direct("fixed=k"), wider).text);
  EXPECT_NE(Emit(Direct("fixed=all"), small).text, Emit(Direct("fixed=all"), wider).text);
}

TEST(Emit, AccessesAreTheWidestThatTheStridesAllow) {
  const auto emits = [](const Gemm& gemm, std::string_view words) {
    return Emit(Direct("warps_k=1"), gemm).text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(emits({{64, 64, 64}}, "kLoadVector = 8;"));
  EXPECT_TRUE(emits({{300, 3584, 60}}, "kLoadVector = 4;"));
  EXPECT_TRUE(emits({{300, 3584, 60}}, "kStoreVector = 8;"));
  EXPECT_TRUE(emits({{17, 31, 63}}, "kLoadVector = 1;"));
  EXPECT_TRUE(emits({{64, 64, 64}, {}, 70}, "kLoadVector = 2;"));
}

TEST(Emit, StandaloneTextIncludesNothingOfOursAndSaysWhatItIs) {
  const Gemm gemm{{64, 64, 4096}, {kNn, ScalarType::kBf16}};
  const std::string text = EmitStandalone(Direct("split=4"), gemm);
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  EXPECT_EQ(text.find("#pragma once"), std::string::npos);
  EXPECT_NE(text.find("extern \"C\" cudaError_t gemm("), std::string::npos);
  EXPECT_NE(text.find("gemmsmith_descriptor_v1[] = \"gemm nn bf16 f32\""), std::string::npos);
  for (const DeviceHeader& header : DeviceHeaders()) EXPECT_FALSE(header.text.empty()) << header.name;
}

TEST(Emit, NamesWhatSumsAreKeptIn) {
  const GemmKind narrow{kTn, ScalarType::kF16, Accumulation::kF16};
  for (const char* words : {"direct", "wgmma", "wgmma schedule=pingpong tile_n=192 store=tma"}) {
    const Plan plan = *ParsePlan(words);
    EXPECT_NE(Emit(plan, {{4096, 4096, 512}}).text.find("using Sum = float;"), std::string::npos) << words;
    EXPECT_NE(Emit(plan, {{4096, 4096, 512}, narrow}).text.find("using Sum = gemmsmith::F16;"), std::string::npos);
    const std::string text = EmitStandalone(plan, {{4096, 4096, 512}, narrow});
    EXPECT_NE(text.find("gemmsmith_descriptor_v1[] = \"gemm tn f16 f16\""), std::string::npos) << words;
    EXPECT_EQ(text.find("#include \""), std::string::npos) << words;
  }
}

TEST(LaunchFor, ClaimsEqualBitsButWhereSplitsAddInOrderOfArrivalOrLaunchesAlternate) {
  const Gemm gemm{{256, 256, 4096}};
  const auto claims = [&](const char* plan) { return LaunchFor(*ParsePlan(plan), gemm).deterministic; };
  for (const char* plan : {"direct", "wgmma", "direct split=4 reduction=ordered", "wgmma split=2 reduction=cluster",
                           "direct warps_k=2", "wgmma split=2 reduction=exchange"})
    EXPECT_TRUE(claims(plan)) << plan;
  for (const char* plan : {"direct split=4 reduction=add", "wgmma split=2 reduction=add", "wgmma walk=alternating",
                           "wgmma split=2 reduction=exchange walk=alternating"})
    EXPECT_FALSE(claims(plan)) << plan;
}

}  // namespace
}  // namespace gemmsmith
