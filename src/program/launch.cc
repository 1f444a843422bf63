#include "program/launch.h"

#include <algorithm>

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
  if (launch.shares_rest) return resident;
  if (!launch.fills_gpu || tiles <= resident) return tiles;
  if (!launch.even_turns) return resident;
  const uint32_t cluster = launch.cluster.x, turns = (tiles + resident - 1) / resident;
  return (tiles / cluster + turns - 1) / turns * cluster;
}

uint64_t SplitWorkspaceBytes(uint64_t tiles, uint64_t sums_of_tile) {
  return (tiles * sizeof(uint32_t) + 255) / 256 * 256 + tiles * sums_of_tile * sizeof(float);
}

// As Rest of src/device/rest.cuh.
std::optional<int> SharedRestSteps(int64_t tiles, int steps, int step_k, int sharers) {
  constexpr int kMostLayers = 4, kMostParts = 6, kLeastSteps = 4, kGivingK = 256;
  const int left = int(tiles % sharers);
  if (left == 0 || sharers > int(kMostSharers)) return std::nullopt;
  const int layers = sharers / left, others = sharers - layers * left;
  const int parts = others * kMostParts < left ? 0 : CeilDivide(left, std::max(others, 1));
  const int giving = kGivingK / step_k;
  const int layer_steps = parts == 0 ? (steps - giving) / layers : (steps * parts - giving) / (1 + parts * layers);
  const int first_steps = parts == 0 ? steps - (layers - 1) * layer_steps : layer_steps + giving;
  const int last_steps = steps - first_steps - (layers - 1) * layer_steps;
  if (layers > kMostLayers || layers + parts == 1 || layer_steps < kLeastSteps) return std::nullopt;
  if (parts > 0 && last_steps < kLeastSteps) return std::nullopt;
  return std::max(first_steps, parts * last_steps);
}

uint64_t SharedRestBytes(uint64_t sums_of_tile) {
  constexpr uint64_t kWordsBytes = 1024;
  return kWordsBytes + kMostSharers * sums_of_tile * sizeof(float);
}

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace) {
  return {
      a, b, c, workspace, gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
}

}  // namespace gemmsmith
