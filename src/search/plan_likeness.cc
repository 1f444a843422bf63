#include "search/plan_likeness.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/check.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

// Of values that cannot be farther apart: words without an order, an axis that one of two plans lacks.
constexpr double kFarthest = 3;

// Octaves of a number, or a word's index; nullopt where the plan's family lacks the axis.
using Coordinate = std::optional<double>;

Coordinate CoordinateOf(const Plan& plan, std::string_view name) {
  const Family& family = GetFamily(plan.family);
  const int index = family.IndexOf(name);
  if (index < 0) return std::nullopt;
  const Axis& axis = family.axes[size_t(index)];
  const int value = plan.values[size_t(index)];
  return axis.words.empty() ? std::log2(1.0 + value) : double(axis.IndexOf(value));
}

bool HasSteps(std::string_view name) {
  return std::all_of(Families().begin(), Families().end(), [&](const Family& family) {
    const int index = family.IndexOf(name);
    return index < 0 || family.axes[size_t(index)].HasSteps();
  });
}

double DistanceBetween(const Coordinate& first, const Coordinate& second, bool has_steps) {
  if (first == second) return 0;
  return first && second && has_steps ? std::min(kFarthest, std::abs(*first - *second)) : kFarthest;
}

std::set<std::string_view> AxisNames() {
  std::set<std::string_view> names;
  for (const Family& family : Families())
    for (const Axis& axis : family.axes) names.insert(axis.name);
  return names;
}

}  // namespace

PlanLikeness::PlanLikeness(const Space& space, const LikenessShares& shares) : shares_(shares) {
  for (const Plan& plan : space.plans()) families_.push_back(plan.family);
  for (const std::string_view name : AxisNames()) {
    std::set<Coordinate> different;
    for (const Plan& plan : space.plans()) different.insert(CoordinateOf(plan, name));
    if (different.size() < 2) continue;
    GEMMSMITH_CHECK(different.size() <= UINT8_MAX, "{} values of {}", different.size(), name);
    const std::vector<Coordinate> coordinates(different.begin(), different.end());
    VariedAxis axis{.count = coordinates.size()};
    for (const Plan& plan : space.plans())
      axis.coordinates.push_back(
          uint8_t(std::lower_bound(coordinates.begin(), coordinates.end(), CoordinateOf(plan, name)) - coordinates.begin()));
    for (const Coordinate& first : coordinates)
      for (const Coordinate& second : coordinates) {
        const double distance = DistanceBetween(first, second, HasSteps(name));
        axis.pairs.push_back({float(std::exp(-distance / shares.reach)), float(distance)});
      }
    axes_.push_back(std::move(axis));
  }
}

double PlanLikeness::Of(size_t first, size_t second) const {
  double alike = 0, distance = 0;
  for (const VariedAxis& axis : axes_) {
    const Pair& pair = axis.pairs[axis.coordinates[first] * axis.count + axis.coordinates[second]];
    alike += pair.alike;
    distance += pair.distance;
  }
  const double axes = axes_.empty() ? 1 : alike / double(axes_.size());
  return shares_.family * double(families_[first] == families_[second]) + shares_.axes * axes +
         shares_.whole * std::exp(-distance / (2 * shares_.reach));
}

}  // namespace gemmsmith
