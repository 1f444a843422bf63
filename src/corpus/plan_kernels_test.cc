#include "corpus/plan_kernels.h"

#include <gtest/gtest.h>

#include "corpus/plan_samples.h"
#include "problem/example_device.h"
#include "program/flat_form.h"

namespace gemmsmith {
namespace {

constexpr Gemm kProblem{.shape = {64, 128, 256}};

// A few of all.
std::vector<Plan> SomePlans() {
  const std::vector<Plan> all = LegalFlatPlans(kProblem, H200());
  std::vector<Plan> some;
  for (size_t i = 0; i < all.size(); i += 501) some.push_back(all[i]);
  return some;
}

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(PlanKernels, AreKnownInEveryStyle) {
  const std::vector<Plan> plans = SomePlans();
  std::vector<std::string> sources;
  for (uint64_t style = 0; style < kFlatStyles; ++style)
    sources.push_back(*EmitFlat(plans[style % plans.size()], kProblem, FlatStyleOf(style)));
  EXPECT_EQ(AreKernelsOf(plans, kProblem, sources), std::vector<bool>(sources.size(), true));
}

TEST(PlanKernels, OfOtherPlansAndProblemsAreNot) {
  const Plan plan = *ParsePlan("direct tile_m=16 tile_n=32 fixed=all"), other = *ParsePlan("direct tile_n=8 fixed=all");
  const std::vector<std::string> sources = {*EmitFlat(other, kProblem, {}),
                                            *EmitFlat(plan, {.shape = {64, 128, 512}}, {}), "not even a kernel"};
  EXPECT_EQ(AreKernelsOf({&plan, 1}, kProblem, sources), std::vector<bool>(3, false));
  EXPECT_TRUE(AreKernelsOf({&plan, 1}, kProblem, {}).empty());
}

TEST(PlanKernels, OtherCommentsAreNoOtherKernelButMixedNamesAndNumbersAre) {
  const std::vector<Plan> plans = {*ParsePlan("direct tile_m=16 tile_n=32 warps_n=2 warps_k=4 fixed=all")};
  const std::string text = *EmitFlat(plans.front(), kProblem, {});
  const std::vector<std::string> sources = {"/* mine */ " + text,
                                            Replaced(text, "typedef long long i64", "typedef long long wide"),
                                            Replaced(text, "warp_k * 32", "warp_k * 64")};
  EXPECT_EQ(AreKernelsOf(plans, kProblem, sources), (std::vector<bool>{true, false, false}));
}

}  // namespace
}  // namespace gemmsmith
