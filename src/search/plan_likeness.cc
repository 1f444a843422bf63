#include "search/plan_likeness.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/check.h"

namespace gemmsmith {

namespace {

// Of values that cannot be farther apart: words without an order, an axis that one of two plans lacks.
constexpr double kFarthest = 3;

// Octaves of a number, or a word's place in its order; nothing where the plan's family lacks the axis.
using Place = std::optional<double>;

Place PlaceOf(const Plan& plan, std::string_view axis) {
  const Family& family = GetFamily(plan.family);
  const int index = family.IndexOf(axis);
  if (index < 0) return std::nullopt;
  const Parameter& parameter = family.parameters[size_t(index)];
  const int value = plan.values[size_t(index)];
  return parameter.words.empty() ? std::log2(1.0 + value) : double(parameter.IndexOf(value));
}

bool HasSteps(std::string_view axis) {
  return std::all_of(Families().begin(), Families().end(), [&](const Family& family) {
    const int index = family.IndexOf(axis);
    return index < 0 || family.parameters[size_t(index)].HasSteps();
  });
}

double DistanceBetween(const Place& first, const Place& second, bool has_steps) {
  if (first == second) return 0;
  return first && second && has_steps ? std::min(kFarthest, std::abs(*first - *second)) : kFarthest;
}

std::set<std::string_view> AxisNames() {
  std::set<std::string_view> names;
  for (const Family& family : Families())
    for (const Parameter& parameter : family.parameters) names.insert(parameter.name);
  return names;
}

}  // namespace

PlanLikeness::PlanLikeness(const Space& space, const LikenessShares& shares) : shares_(shares) {
  for (const Plan& plan : space.plans()) families_.push_back(plan.family);
  for (const std::string_view name : AxisNames()) {
    std::set<Place> different;
    for (const Plan& plan : space.plans()) different.insert(PlaceOf(plan, name));
    if (different.size() < 2) continue;
    GEMMSMITH_CHECK(different.size() <= UINT8_MAX, "{} values of {}", different.size(), name);
    const std::vector<Place> places(different.begin(), different.end());
    Axis axis{.count = places.size()};
    for (const Plan& plan : space.plans())
      axis.places.push_back(
          uint8_t(std::lower_bound(places.begin(), places.end(), PlaceOf(plan, name)) - places.begin()));
    for (const Place& first : places)
      for (const Place& second : places) {
        const double distance = DistanceBetween(first, second, HasSteps(name));
        axis.pairs.push_back({float(std::exp(-distance / shares.reach)), float(distance)});
      }
    axes_.push_back(std::move(axis));
  }
}

double PlanLikeness::Of(size_t first, size_t second) const {
  double alike = 0, distance = 0;
  for (const Axis& axis : axes_) {
    const Pair& pair = axis.pairs[axis.places[first] * axis.count + axis.places[second]];
    alike += pair.alike;
    distance += pair.distance;
  }
  const double axes = axes_.empty() ? 1 : alike / double(axes_.size());
  return shares_.family * double(families_[first] == families_[second]) + shares_.axes * axes +
         shares_.whole * std::exp(-distance / (2 * shares_.reach));
}

}  // namespace gemmsmith
