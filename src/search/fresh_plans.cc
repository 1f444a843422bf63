#include "program/family.h"
#include "search/fresh_plans.h"

#include <algorithm>
#include <numeric>

namespace gemmsmith {

int Distance(const Plan& first, const Plan& second) {
  if (first.family != second.family) return kFarApart;
  const std::span<const Axis> axes = GetFamily(first.family).axes;
  int distance = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (first.values[i] == second.values[i]) continue;
    distance += axes[i].HasSteps() ? axes[i].StepsBetween(first.values[i], second.values[i]) : 1;
  }
  return distance;
}

FreshPlans::FreshPlans(const Space& space, Random random)
    : space_(space), order_(space.size()), rank_(space.size()), taken_(space.size()), remaining_(space.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  random.Shuffle(order_);
  for (size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = uint32_t(i);
}

Plan FreshPlans::TakeIndex(size_t index) {
  taken_[index] = true;
  --remaining_;
  return space_.plans()[index];
}

bool FreshPlans::Take(const Plan& plan) {
  const std::optional<size_t> index = space_.IndexOf(plan);
  if (!index || taken_[*index]) return false;
  TakeIndex(*index);
  return true;
}

std::optional<Plan> FreshPlans::TakeAny() {
  while (cursor_ < order_.size() && taken_[order_[cursor_]]) ++cursor_;
  if (cursor_ == order_.size()) return std::nullopt;
  return TakeIndex(order_[cursor_]);
}

std::optional<Plan> FreshPlans::TakeNearest(const Plan& plan, int reach) {
  std::optional<size_t> nearest;
  int least = reach + 1;
  for (size_t index = 0; index < space_.size(); ++index) {
    if (taken_[index]) continue;
    const int distance = Distance(plan, space_.plans()[index]);
    if (distance < least || (nearest && distance == least && rank_[index] < rank_[*nearest])) {
      least = distance;
      nearest = index;
    }
  }
  if (!nearest) return std::nullopt;
  return TakeIndex(*nearest);
}

}  // namespace gemmsmith
