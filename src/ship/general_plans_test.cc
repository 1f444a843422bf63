#include "ship/general_plans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/launch.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

const Device kDevice = *FindDevice("h200");

Entry EntryWith(const Shape& shape, const char* plan, const GemmKind& kind = {}) {
  return {.gemm = {shape, kind},
          .plan = *ParsePlan(plan),
          .date = "2026-11-22",
          .harness = "gemmsmith 0.1.0 abc",
          .times = {{"device_cold", 5000, {4990, 5010}, 1.5, {1.4, 1.6}}}};
}

std::vector<Plan> ShippedPlans() {
  std::vector<Plan> plans;
  const Result<std::string> text = ReadFile(GEMMSMITH_SOURCE_DIR "/kernels/general.plans");
  EXPECT_TRUE(text.ok());
  for (const ListLine& line : ListLines(*text)) plans.push_back(*ParsePlan(line.text));
  return plans;
}

TEST(GeneralPlans, AreThePlansOfEntriesWithoutDimensionsAndTriggers) {
  Catalogue catalogue("h200");
  catalogue.Put(EntryWith({8, 4096, 4096}, "wgmma tile_m=8 tile_n=64 roles=swapped warpgroups=1 fixed=all"));
  catalogue.Put(EntryWith({4096, 4096, 4096}, "wgmma fixed=all trigger=late"));
  const std::vector<RowClass> classes = ChooseGeneralPlans(catalogue, kDevice, 3);
  ASSERT_EQ(classes.size(), 5u);
  ASSERT_EQ(classes.front().plans.size(), 1u);
  EXPECT_EQ(classes.front().plans.front().plan, *ParsePlan("wgmma tile_m=8 tile_n=64 roles=swapped warpgroups=1"));
  EXPECT_DOUBLE_EQ(classes.front().plans.front().covered, 1);
  ASSERT_EQ(classes.back().plans.size(), 1u);
  EXPECT_EQ(classes.back().plans.front().plan, *ParsePlan("wgmma"));
  for (const size_t empty : {1u, 2u, 3u}) EXPECT_TRUE(classes[empty].plans.empty());
}

TEST(GeneralPlans, ComeFromNoEntryOfAnotherPromiseAndNeedNoWorkspace) {
  Catalogue catalogue("h200");
  catalogue.Put(EntryWith({64, 64, 4096}, "wgmma tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=exchange"));
  catalogue.Put(EntryWith({64, 64, 8192}, "wgmma tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=add"));
  catalogue.Put(EntryWith({64, 64, 2048}, "wgmma tile_m=64 tile_n=64 warpgroups=1", {.constant_b = true}));
  for (const RowClass& rows : ChooseGeneralPlans(catalogue, kDevice, 3)) EXPECT_TRUE(rows.plans.empty());
}

TEST(GeneralPlans, ThoseThatShipAreFewAndGiveEqualBitsWithoutWorkspace) {
  const std::vector<Plan> plans = ShippedPlans();
  EXPECT_GE(plans.size(), 8u);
  EXPECT_LE(plans.size(), 24u);
  for (const Plan& plan : plans) {
    EXPECT_EQ(plan, WithTrigger(WithFixed(plan, FixedDimensions::kNone), Trigger::kNone));
    const Launch launch = LaunchFor(plan, {.shape = {512, 512, 2048}});
    EXPECT_TRUE(launch.deterministic) << PrintShort(plan);
    EXPECT_EQ(launch.workspace_bytes, 0u) << PrintShort(plan);
  }
}

// Whatever the shape: some plan serves it, and by a text that was compiled.
TEST(GeneralPlans, ThoseThatShipServeEveryShapeOfAlignedLines) {
  const std::vector<Plan> plans = ShippedPlans();
  std::map<std::pair<Plan, GemmKind>, std::set<std::string>> compiled;
  for (const Plan& plan : plans)
    for (const Gemm& gemm : ProblemsOfAllTexts())
      if (IsLegal(plan, gemm, kDevice)) compiled[{plan, gemm.kind}].insert(Emit(plan, gemm).text);
  std::mt19937_64 random(1);
  const auto extent = [&] { return int(std::exp2(std::log2(20000.0) * double(random() % 1000) / 1000)); };
  const auto aligned = [](int length) { return (length + 7) / 8 * 8; };
  for (int i = 0; i < 300; ++i)
    for (const Layout& layout : kLayouts) {
      Gemm gemm{.shape = {extent(), extent(), extent()}, .kind = {.layout = layout}};
      gemm.lda = aligned(gemm.LeadingA()), gemm.ldb = aligned(gemm.LeadingB()), gemm.ldc = aligned(gemm.LeadingC());
      int serving = 0;
      for (const Plan& plan : plans) {
        if (!IsLegal(plan, gemm, kDevice)) continue;
        ++serving;
        EXPECT_TRUE((compiled[{plan, gemm.kind}].contains(Emit(plan, gemm).text)))
            << PrintShort(plan) << " for " << Print(gemm);
      }
      EXPECT_GT(serving, 0) << Print(gemm);
    }
}

}  // namespace
}  // namespace gemmsmith
