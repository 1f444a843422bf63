#include "program/launch.h"

#include "program/family.h"

namespace gemmsmith {

Launch LaunchFor(const Plan& plan, const Gemm& gemm) { return GetFamily(plan.family).LaunchFor(plan, gemm); }

uint32_t CtasToLaunch(const Launch& launch, uint32_t resident) {
  const uint32_t cluster = launch.cluster.x;
  if (!launch.fills_gpu) return launch.grid.x;
  return uint32_t(PersistentClusters(int(launch.grid.x / cluster), int(resident / cluster), launch.even_waves)) * cluster;
}

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace) {
  return {
      a, b, c, workspace, gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
}

}  // namespace gemmsmith
