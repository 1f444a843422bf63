#include <algorithm>
#include <utility>

#include "program/cost.h"
#include "search/nvmmh.h"

namespace gemmsmith {

std::vector<Plan> PlansLike(std::span<const NvmmhConfig> configs, const Gemm& gemm, const Device& device) {
  std::vector<Plan> plans;
  for (const NvmmhConfig& config : configs)
    if (const std::optional<Plan> plan = GetFamily(FamilyId::kWgmma).PlanLike(config, gemm, device);
        plan && std::find(plans.begin(), plans.end(), *plan) == plans.end())
      plans.push_back(*plan);
  return plans;
}

const Plan* NearestOf(std::span<const Plan> plans, const Plan& wanted, const Gemm& gemm, const Device& device) {
  using Rank = std::pair<double, double>;
  const Family& family = GetFamily(wanted.family);
  const Plan* nearest = nullptr;
  Rank best;
  for (const Plan& plan : plans) {
    if (plan.family != wanted.family) continue;
    const Rank rank{family.Unlikeness(wanted, plan), PredictTimeNs(plan, gemm, device)};
    if (nearest == nullptr || rank < best) nearest = &plan, best = rank;
  }
  return nearest;
}

}  // namespace gemmsmith
