#include "program/launch.h"

#include "base/check.h"
#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

Launch LaunchFor(const Plan& plan, const Gemm& gemm) {
  switch (plan.family) {
    case FamilyId::kDirect:
      return LaunchDirect(DirectPlan(plan), gemm);
    case FamilyId::kWgmma:
      return LaunchWgmma(WgmmaPlan(plan), gemm);
  }
  GEMMSMITH_CHECK(false, "family {}", int(plan.family));
  return {};
}

uint64_t SplitWorkspaceBytes(uint64_t tiles, uint64_t sums_of_tile) {
  return (tiles * sizeof(uint32_t) + 255) / 256 * 256 + tiles * sums_of_tile * sizeof(float);
}

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace) {
  return {
      a, b, c, workspace, gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
}

}  // namespace gemmsmith
