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

uint32_t CtasToLaunch(const Launch& launch, uint32_t resident) {
  const uint32_t tiles = launch.grid.x;
  if (!launch.fills_gpu || tiles <= resident) return tiles;
  if (!launch.even_turns) return resident;
  const uint32_t cluster = launch.cluster.x, turns = (tiles + resident - 1) / resident;
  return (tiles / cluster + turns - 1) / turns * cluster;
}

uint64_t SplitWorkspaceBytes(uint64_t tiles, uint64_t sums_of_tile) {
  return (tiles * sizeof(uint32_t) + 255) / 256 * 256 + tiles * sums_of_tile * sizeof(float);
}

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace) {
  return {
      a, b, c, workspace, gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
}

}  // namespace gemmsmith
