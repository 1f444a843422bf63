// RankedPlans() of program/space.h: millions of combinations, so first the axes that make the time (the geometry), and
// only the best of those with the others.
#include <algorithm>

#include "program/cost.h"
#include "program/family.h"
#include "program/space.h"

namespace gemmsmith {

namespace {

struct PricedPlan {
  double time_ns = 0;
  Plan plan;
  auto operator<=>(const PricedPlan&) const = default;
};

// The best `limit` geometries; their other axes stand at values that every geometry can take.
class CheapestGeometries {
 public:
  explicit CheapestGeometries(size_t limit) : limit_(limit) {}
  bool WouldTake(double time_ns) const { return heap_.size() < limit_ || time_ns <= heap_.front().time_ns; }
  void Add(const PricedPlan& priced) {
    if (heap_.size() == limit_ && !(priced < heap_.front())) return;
    heap_.push_back(priced);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= limit_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  std::vector<PricedPlan> Sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  size_t limit_;
  std::vector<PricedPlan> heap_;
};

// The latest trigger: the same kernel gives the chained time. Where chained launches are unknown, none.
Trigger ScreenedTrigger(const Device& device) {
  return device.compute_capability() >= 90 ? Trigger::kLate : Trigger::kNone;
}

// Geometries of one family first, then the other axes of the best of them.
class FamilySpace {
 public:
  FamilySpace(const Family& family, const Gemm& gemm, const Device& device)
      : family_(family), gemm_(gemm), device_(device) {
    for (size_t axis = 0; axis < family.axes.size(); ++axis)
      (IsGeometry(family.axes[axis].role) ? geometry_ : others_).push_back(axis);
  }

  void OfferGeometries(CheapestGeometries& cheapest) const {
    Plan plan{family_.id};
    for (const size_t axis : others_) plan.values[axis] = family_.axes[axis].values.front();
    plan = ScreeningForm(plan, device_);
    Descend(plan, 0, cheapest);
  }

  enum class Width { kOne, kAll };
  // The geometry with its fastest other values, or with all of them.
  void Expand(const Plan& geometry, Width width, std::vector<PricedPlan>& plans) const {
    const size_t first = plans.size();
    ExpandFrom(geometry, 0, plans);
    if (width != Width::kOne || plans.size() == first) return;
    plans[first] = *std::min_element(plans.begin() + long(first), plans.end());
    plans.resize(first + 1);
  }

 private:
  void Descend(Plan& plan, size_t depth, CheapestGeometries& cheapest) const {
    if (depth == geometry_.size()) return Offer(plan, cheapest);
    const size_t axis = geometry_[depth];
    for (const int value : family_.axes[axis].live_values()) {
      plan.values[axis] = value;
      if (family_.MayBecomeWorthTrying(plan, axis, gemm_, device_)) Descend(plan, depth + 1, cheapest);
    }
  }

  void Offer(const Plan& geometry, CheapestGeometries& cheapest) const {
    double best_ns = 0;
    for (const PricedForm& form : family_.PricedForms(geometry)) {
      const double time_ns = PredictTimeNs(form.priced, gemm_, device_);
      if (!cheapest.WouldTake(time_ns) || !IsWorthTrying(form.legal, gemm_, device_)) continue;
      if (best_ns == 0 || time_ns < best_ns) best_ns = time_ns;
    }
    if (best_ns > 0) cheapest.Add({best_ns, geometry});
  }

  void ExpandFrom(const Plan& plan, size_t depth, std::vector<PricedPlan>& plans) const {
    if (depth == others_.size()) {
      if (IsWorthTrying(plan, gemm_, device_)) plans.push_back({PredictTimeNs(plan, gemm_, device_), plan});
      return;
    }
    const size_t axis = others_[depth];
    // Triggers and known dimensions are variants, which the fastest plans bring into the heat.
    const AxisRole role = family_.axes[axis].role;
    if (role == AxisRole::kChain || role == AxisRole::kCompileTime) return ExpandFrom(plan, depth + 1, plans);
    for (const int value : family_.axes[axis].live_values()) {
      Plan next = plan;
      next.values[axis] = value;
      ExpandFrom(next, depth + 1, plans);
    }
  }

  const Family& family_;
  const Gemm& gemm_;
  const Device& device_;
  std::vector<size_t> geometry_, others_;
};

// This many of the best geometries get all values of the other axes; doubled until there are enough plans.
constexpr size_t kWide = 128;

std::vector<PricedPlan> ExpandAll(const std::vector<FamilySpace>& spaces, const std::vector<PricedPlan>& geometries,
                                  size_t wide) {
  std::vector<PricedPlan> plans;
  for (size_t rank = 0; rank < geometries.size(); ++rank) {
    const FamilySpace::Width width = rank < wide ? FamilySpace::Width::kAll : FamilySpace::Width::kOne;
    spaces[size_t(geometries[rank].plan.family)].Expand(geometries[rank].plan, width, plans);
  }
  return plans;
}

template <class Predicate>
Plan Only(const Plan& plan, Predicate&& is_kept) {
  Plan only = plan;
  const std::span<const Axis> axes = GetFamily(plan.family).axes;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (!is_kept(axes[axis].role)) only.values[axis] = axes[axis].values.front();
  return only;
}

}  // namespace

Plan ScreeningForm(Plan plan, const Device& device) {
  const Family& family = GetFamily(plan.family);
  return WithTrigger(WithFixed(plan, family.ScreenedFixed()), ScreenedTrigger(device));
}

Plan GeometryOf(const Plan& plan) {
  return Only(plan, [](AxisRole role) { return IsGeometry(role); });
}

Plan TilingOf(const Plan& plan) {
  return Only(plan, [](AxisRole role) { return role == AxisRole::kTile; });
}

std::vector<Plan> RankedPlans(const Gemm& gemm, const Device& device, size_t limit) {
  if (!WhyInvalid(gemm).empty() || limit == 0) return {};
  std::vector<FamilySpace> spaces;
  CheapestGeometries cheapest(limit);
  for (const Family& family : Families()) spaces.emplace_back(family, gemm, device).OfferGeometries(cheapest);
  const std::vector<PricedPlan> geometries = std::move(cheapest).Sorted();
  std::vector<PricedPlan> priced;
  for (size_t scale = 1;; scale *= 2) {
    priced = ExpandAll(spaces, geometries, scale * kWide);
    if (priced.size() >= limit || scale * kWide >= geometries.size()) break;
  }
  std::sort(priced.begin(), priced.end());
  if (priced.size() > limit) priced.resize(limit);
  std::vector<Plan> plans;
  for (const PricedPlan& one : priced) plans.push_back(one.plan);
  return plans;
}

}  // namespace gemmsmith
