#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "problem/example_device.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

Plan Direct(std::string_view words) { return *ParsePlan("direct " + std::string(words)); }
bool AnyContains(const std::vector<std::string>& reasons, std::string_view part) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [part](const std::string& reason) { return reason.find(part) != std::string::npos; });
}

TEST(Plan, TextRoundTripsForEveryValueOfEveryAxis) {
  for (const Family& family : Families())
    for (const Axis& axis : family.axes)
      for (int value : axis.values) {
        Plan plan = DefaultPlan(family.id);
        plan.Set(axis.name, value);
        EXPECT_EQ(*ParsePlan(Print(plan)), plan) << Print(plan);
      }
}

TEST(Plan, ShortTextRoundTripsAndIsAPartOfTheWholeText) {
  Random random(5);
  for (const Family& family : Families()) {
    Plan plan = DefaultPlan(family.id);
    for (int i = 0; i < 1000; ++i, plan = Mutate(plan, random)) {
      const std::string brief = PrintShort(plan), whole = Print(plan);
      EXPECT_EQ(*ParsePlan(brief), plan) << brief;
      EXPECT_LT(brief.size(), whole.size());
      const std::vector<std::string_view> words = SplitWords(brief), all = SplitWords(whole);
      size_t found = 0;
      for (const std::string_view word : all) found += found < words.size() && words[found] == word;
      EXPECT_EQ(found, words.size()) << brief << " in " << whole;
    }
  }
}

TEST(Plan, ShortTextIsTheTileAndTheDifferencesFromTheDefault) {
  EXPECT_EQ(PrintShort(DefaultPlan(FamilyId::kDirect)), "direct tile_m=16 tile_n=16");
  EXPECT_EQ(PrintShort(*ParsePlan("wgmma fixed=k tile_n=256 stages=4")), "wgmma tile_m=128 tile_n=256 fixed=k");
}

TEST(Plan, WordsMayComeInAnyOrderAndMissingOnesAreDefaults) {
  EXPECT_EQ(Direct("tile_n=8 tile_m=32"), Direct("tile_m=32  tile_n=8 split=1"));
  EXPECT_EQ(*ParsePlan("direct"), DefaultPlan(FamilyId::kDirect));
}

TEST(Plan, RefusesMalformedTextAndNamesTheNearestWord) {
  for (const char* text :
       {"", "  ", "dirct", "direct tile_m", "direct tile_m=", "direct tile_m=17", "direct tile_m=016x",
        "direct tile_m=16 tile_m=16", "direct =16", "direct fixed=1", "direct split=99999999999"})
    EXPECT_EQ(ParsePlan(text).status().code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(ParsePlan("direct tilem=16").status().message().find("did you mean 'tile_m'"), std::string::npos);
  EXPECT_NE(ParsePlan("direct fixed=maybe").status().message().find("none, k, all"), std::string::npos);
}

TEST(Legality, NamesEveryReason) {
  const Gemm gemm{
      {64, 64, 64}, {{Order::kColumn, Order::kColumn}, ScalarType::kBf16, Accumulation::kF16}, 0, 63 + 8, 0};
  const Plan plan = Direct("tile_m=16 warps_m=4 warps_k=16 reduction=ordered");
  const std::vector<std::string> reasons = Check(plan, gemm, H200());
  for (const char* part :
       {"row-major A", "type is f16, not bf16", "less than one instruction", "64 warps", "is retired"})
    EXPECT_TRUE(AnyContains(reasons, part)) << part;
  EXPECT_TRUE(AnyContains(Advise(plan, gemm, H200()), "leaves idle"));
}

// A plan of an old record reads and prints, and cannot run.
TEST(Legality, RefusesEveryRetiredValueForThatReasonAlone) {
  const Gemm gemm{{4096, 4096, 4096}};
  int retired = 0;
  for (const Family& family : Families()) {
    ASSERT_TRUE(IsLegal(DefaultPlan(family.id), gemm, H200()));
    for (const Axis& axis : family.axes)
      for (const int value : axis.values.subspan(axis.live_values().size())) {
        Plan plan = DefaultPlan(family.id);
        plan.Set(axis.name, value);
        EXPECT_EQ(*ParsePlan(Print(plan)), plan);
        const std::vector<std::string> reasons = Check(plan, gemm, H200());
        ASSERT_EQ(reasons.size(), 1u) << Print(plan);
        EXPECT_EQ(reasons[0], fmt::format("{}={} is retired (docs/plan.md)", axis.name, axis.Print(value)));
        ++retired;
      }
  }
  EXPECT_EQ(retired, 9 + 2 + 10 + 1 + 1 + 2 + 1 + 1) << "direct split and reduction; wgmma keep, kept, place, walk, "
                                                        "schedule and ctas";
}

TEST(Legality, HasNoSayInAdvice) {
  const Gemm gemm{{64, 64, 64}};
  const Plan idle = Direct("warps_k=4"), illegal = Direct("warps_m=4");
  EXPECT_TRUE(IsLegal(idle, gemm, H200()));
  EXPECT_TRUE(AnyContains(Advise(idle, gemm, H200()), "leaves idle"));
  EXPECT_FALSE(IsWorthTrying(idle, gemm, H200()));
  EXPECT_FALSE(IsLegal(illegal, gemm, H200()));
  EXPECT_FALSE(IsWorthTrying(illegal, gemm, H200()));
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

// Sums leave the multiplication in registers of f32.
TEST(Legality, IsTheSameForEitherAccumulation) {
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

TEST(Legality, CountsTheReasonsThatItNames) {
  Random random(1);
  const std::vector<Gemm> gemms = {{{64, 64, 64}}, {{17, 31, 63}, {kNn}}, {{256, 512, 4096}}, {{1, 1, 1}}};
  int legal = 0, worth_trying = 0;
  for (int i = 0; i < 20000; ++i) {
    const Gemm& gemm = gemms[random.Below(gemms.size())];
    Plan plan = DefaultPlan(FamilyId(random.Below(2)));
    for (int step = 0; step < 4; ++step) plan = Mutate(plan, random);
    const std::vector<std::string> reasons = Check(plan, gemm, H200()), advice = Advise(plan, gemm, H200());
    EXPECT_EQ(reasons.empty(), IsLegal(plan, gemm, H200())) << Print(plan);
    EXPECT_EQ(int(reasons.size() + advice.size()), CountReasons(plan, gemm, H200())) << Print(plan);
    legal += reasons.empty();
    worth_trying += IsWorthTrying(plan, gemm, H200());
  }
  EXPECT_GT(worth_trying, 0);
  EXPECT_GT(legal, worth_trying);
}

// ---- one plan for one kernel ----

// The text without the comment that names the plan.
std::string Code(const Plan& plan, const Gemm& gemm) {
  std::string text = Emit(plan, gemm).text;
  const size_t named = text.find(Print(plan));
  EXPECT_NE(named, std::string::npos);
  return named == std::string::npos ? text : text.erase(named, Print(plan).size());
}

// The plans of searches' random walks, legal or not.
template <class Visit>
void VisitRandomPlans(const std::vector<Gemm>& gemms, Visit&& visit) {
  Random random(9);
  for (const Family& family : Families())
    for (const Gemm& gemm : gemms) {
      Plan plan = DefaultPlan(family.id);
      for (int i = 0; i < 3000; ++i, plan = i % 10 == 0 ? DefaultPlan(family.id) : Mutate(plan, random))
        visit(family, plan, gemm);
    }
}

TEST(Canonical, IsCanonicalItselfAndLegalWhereThePlanIs) {
  int changed = 0;
  VisitRandomPlans({{{64, 64, 512}}, {{256, 512, 4096}}, {{4096, 4096, 4096}, {kNn}}},
                   [&](const Family& family, const Plan& plan, const Gemm& gemm) {
                     const Plan canonical = family.Canonical(plan, gemm);
                     EXPECT_EQ(family.Canonical(canonical, gemm), canonical) << Print(plan);
                     EXPECT_EQ(IsLegal(canonical, gemm, H200()), IsLegal(plan, gemm, H200())) << Print(plan);
                     changed += IsLegal(plan, gemm, H200()) && canonical != plan;
                   });
  EXPECT_GT(changed, 0);
}

// Rasters of one row or one column of tiles differ in their grids; the order of the tiles is the same.
TEST(Canonical, HasTheKernelAndTheLaunchOfThePlan) {
  int changed = 0;
  VisitRandomPlans({{{256, 512, 4096}}, {{4096, 4096, 4096}, {kNn}}},
                   [&](const Family& family, const Plan& plan, const Gemm& gemm) {
                     if (!IsLegal(plan, gemm, H200())) return;
                     Plan canonical = family.Canonical(plan, gemm);
                     if (const int raster = family.IndexOf("raster"); raster >= 0)
                       canonical.values[size_t(raster)] = plan.values[size_t(raster)];
                     if (canonical == plan) return;
                     ++changed;
                     EXPECT_EQ(LaunchFor(canonical, gemm), LaunchFor(plan, gemm)) << Print(plan);
                     EXPECT_EQ(Code(canonical, gemm), Code(plan, gemm)) << Print(plan);
                   });
  EXPECT_GT(changed, 20);
}

TEST(Canonical, IsTheOnlyFormWorthTrying) {
  VisitRandomPlans({{{256, 512, 4096}}, {{4096, 4096, 4096}, {kNn}}},
                   [&](const Family& family, const Plan& plan, const Gemm& gemm) {
                     if (!IsWorthTrying(plan, gemm, H200())) return;
                     EXPECT_EQ(family.Canonical(plan, gemm), plan) << Print(plan);
                   });
}

TEST(Space, NeighboursDifferOnOneAxisAndReachNearlyEveryPlan) {
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
      for (int i = 0; i < kMaxAxes; ++i) differences += neighbour.values[i] != plan.values[i];
      ASSERT_EQ(differences, 1);
      if (reached.insert(neighbour).second) frontier.push_back(neighbour);
    }
  }
  // Some plans need two moves at once (more warps and less in flight each). Searches reach them by restarts and
  // mutation.
  EXPECT_GT(double(reached.size()), 0.9 * double(space.size()));
}

// Rows of straight wgmma tiles come by 64. That is one step, though the axis has smaller ones for swapped roles.
TEST(Space, AStepAlongTileMIs64Rows) {
  const Family& wgmma = GetFamily(FamilyId::kWgmma);
  const Axis& tile_m = wgmma.axes[size_t(wgmma.IndexOf("tile_m"))];
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
    for (int p = 0; p < kMaxAxes; ++p)
      EXPECT_TRUE(child.values[p] == plan.values[p] || child.values[p] == mutant.values[p]);
    plan = mutant;
  }
}

TEST(Space, HasNoWayToARetiredValue) {
  const auto expect_live = [](const Plan& plan) {
    const Family& family = GetFamily(plan.family);
    for (size_t i = 0; i < family.axes.size(); ++i) EXPECT_TRUE(family.axes[i].IsLive(plan.values[i])) << Print(plan);
  };
  Random random(4);
  for (const Family& family : Families()) {
    Plan plan = DefaultPlan(family.id);
    for (int i = 0; i < 300; ++i) {
      for (const Plan& neighbour : Neighbours(plan)) expect_live(neighbour);
      plan = Mutate(plan, random);
      expect_live(plan);
    }
  }
}

TEST(Launch, OfDirectPlansCoversTheMatrixWithoutAWorkspace) {
  const Launch plain = LaunchFor(Direct("tile_m=32 tile_n=8 warps_k=4 warps_m=2"), {{65, 17, 4096}});
  EXPECT_EQ(plain.grid, (Dim3{3, 3, 1}));
  EXPECT_EQ(plain.block, (Dim3{256}));
  EXPECT_EQ(plain.smem_bytes, 4u * 32 * 12 * 4);
  EXPECT_EQ(plain.workspace_bytes, 0u);
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
  const std::string text = EmitStandalone(Direct("warps_k=8"), gemm);
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  EXPECT_EQ(text.find("#pragma once"), std::string::npos);
  EXPECT_NE(text.find("extern \"C\" cudaError_t gemm("), std::string::npos);
  EXPECT_NE(text.find("gemmsmith_descriptor_v1[] = \"gemm nn bf16 f32\""), std::string::npos);
  for (const DeviceHeader& header : DeviceHeaders()) EXPECT_FALSE(header.text.empty()) << header.name;
}

TEST(Emit, NamesTheTypeOfSums) {
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

TEST(LaunchFor, ClaimsEqualBitsUnlessSplitsAddInOrderOfArrival) {
  const Gemm gemm{{256, 256, 4096}};
  const auto claims = [&](const char* plan) { return LaunchFor(*ParsePlan(plan), gemm).deterministic; };
  for (const char* plan :
       {"direct", "wgmma", "wgmma split=2 reduction=cluster", "direct warps_k=2", "wgmma split=2 reduction=exchange"})
    EXPECT_TRUE(claims(plan)) << plan;
  EXPECT_FALSE(claims("wgmma split=2 reduction=add"));
}

}  // namespace
}  // namespace gemmsmith
