#include "program/space.h"

#include <algorithm>

#include "program/family.h"

namespace gemmsmith {

std::vector<Plan> Neighbours(const Plan& plan) {
  const std::span<const Axis> axes = GetFamily(plan.family).axes;
  std::vector<Plan> neighbours;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int here = plan.values[i];
    for (const int there : axes[i].live_values()) {
      if (there == here || (axes[i].HasSteps() && axes[i].StepsBetween(here, there) != 1)) continue;
      Plan neighbour = plan;
      neighbour.values[i] = there;
      neighbours.push_back(neighbour);
    }
  }
  return neighbours;
}

Plan Mutate(const Plan& plan, Random& random) {
  const std::span<const Axis> axes = GetFamily(plan.family).axes;
  std::vector<size_t> movable;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].live_values().size() > 1) movable.push_back(i);
  Plan mutant = plan;
  for (uint64_t moves = 1 + random.Below(3); moves > 0; --moves) {
    const size_t i = movable[random.Below(movable.size())];
    const std::span<const int> values = axes[i].live_values();
    mutant.values[i] = values[random.Below(values.size())];
  }
  return mutant;
}

Plan Cross(const Plan& first, const Plan& second, Random& random) {
  Plan child = first;
  if (first.family != second.family) return child;
  for (size_t i = 0; i < GetFamily(first.family).axes.size(); ++i)
    if (random.Below(2) == 1) child.values[i] = second.values[i];
  return child;
}

Space::Space(std::vector<Plan> plans) : plans_(std::move(plans)) {
  std::sort(plans_.begin(), plans_.end());
  plans_.erase(std::unique(plans_.begin(), plans_.end()), plans_.end());
}

std::optional<size_t> Space::IndexOf(const Plan& plan) const {
  const auto found = std::lower_bound(plans_.begin(), plans_.end(), plan);
  if (found == plans_.end() || *found != plan) return std::nullopt;
  return size_t(found - plans_.begin());
}

std::vector<Plan> Space::NeighboursOf(const Plan& plan) const {
  std::vector<Plan> neighbours = Neighbours(plan);
  std::erase_if(neighbours, [this](const Plan& neighbour) { return !Contains(neighbour); });
  return neighbours;
}

}  // namespace gemmsmith
