#include "program/covering.h"

#include <set>
#include <tuple>

#include "base/random.h"
#include "program/space.h"

namespace gemmsmith {

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed) {
  std::vector<Plan> legal = EnumerateLegal(gemm, device);
  Random random(seed);
  random.Shuffle(legal);
  std::set<std::tuple<FamilyId, size_t, int>> covered;
  std::vector<Plan> covering;
  for (const Plan& plan : legal) {
    bool brings_a_new_value = false;
    for (size_t i = 0; i < GetFamily(plan.family).parameters.size(); ++i)
      brings_a_new_value |= covered.emplace(plan.family, i, plan.values[i]).second;
    if (brings_a_new_value) covering.push_back(plan);
  }
  return covering;
}

}  // namespace gemmsmith
