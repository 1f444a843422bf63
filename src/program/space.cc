#include "program/space.h"

#include <algorithm>

namespace gemmsmith {

std::vector<Plan> Neighbours(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  std::vector<Plan> neighbours;
  for (size_t i = 0; i < family.parameters.size(); ++i) {
    const Parameter& parameter = family.parameters[i];
    const int here = plan.values[i];
    for (const int there : parameter.values) {
      if (there == here || (parameter.HasSteps() && parameter.StepsBetween(here, there) != 1)) continue;
      Plan neighbour = plan;
      neighbour.values[i] = there;
      neighbours.push_back(neighbour);
    }
  }
  return neighbours;
}

// What no words tell is for twins. (Until 2026-11-26 it was drawn too, to no avail where calls are short: evolution
// took other ways by the same seed.)
Plan Mutate(const Plan& plan, Random& random) {
  const Family& family = GetFamily(plan.family);
  Plan mutant = plan;
  for (uint64_t moves = 1 + random.Below(3); moves > 0; --moves) {
    const size_t i = random.Below(family.ToldCount());
    const auto values = family.parameters[i].told_values();
    mutant.values[i] = values[random.Below(values.size())];
  }
  return mutant;
}

Plan Cross(const Plan& first, const Plan& second, Random& random) {
  Plan child = first;
  if (first.family != second.family) return child;
  for (size_t i = 0; i < GetFamily(first.family).parameters.size(); ++i)
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
