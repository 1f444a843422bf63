#include "program/covering.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/random.h"
#include "program/random_plan.h"

namespace gemmsmith {

namespace {

class Covering {
 public:
  Covering(const Gemm& gemm, const Device& device, uint64_t seed) : gemm_(gemm), device_(device), random_(seed) {}

  // Schedules and roles make kernels of their own: each pair of them is covered by itself.
  void Cover(const Family& family) {
    const int schedule = family.IndexOf("schedule"), roles = family.IndexOf("roles");
    if (schedule < 0) return CoverValues(family, {});
    for (const int of_schedule : family.parameters[size_t(schedule)].values)
      for (const int of_roles : family.parameters[size_t(roles)].values)
        CoverValues(family, {{size_t(schedule), of_schedule}, {size_t(roles), of_roles}});
  }

  std::vector<Plan> plans() && { return std::move(plans_); }

 private:
  using Settings = std::vector<AxisValue>;

  // Every value that goes with `always`.
  void CoverValues(const Family& family, const Settings& always) {
    covered_.clear();
    if (!LegalPlanWith(family, always)) return;
    for (size_t axis = 0; axis < family.parameters.size(); ++axis)
      for (const int value : family.parameters[axis].values) {
        if (covered_.contains({axis, value}) || Sets(always, axis)) continue;
        Settings settings = always;
        settings.push_back({axis, value});
        if (const std::optional<Plan> plan = LegalPlanWith(family, settings)) Add(*plan, family);
      }
  }

  static bool Sets(const Settings& settings, size_t axis) {
    return std::any_of(settings.begin(), settings.end(), [axis](const AxisValue& one) { return one.axis == axis; });
  }

  std::optional<Plan> LegalPlanWith(const Family& family, const Settings& settings) {
    return RandomLegalPlan(family, settings, gemm_, device_, random_);
  }

  void Add(const Plan& plan, const Family& family) {
    for (size_t axis = 0; axis < family.parameters.size(); ++axis) covered_.emplace(axis, plan.values[axis]);
    plans_.push_back(plan);
  }

  const Gemm& gemm_;
  const Device& device_;
  Random random_;
  std::set<std::pair<size_t, int>> covered_;  // of the kernels at work
  std::vector<Plan> plans_;
};

}  // namespace

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed) {
  if (!Problems(gemm).empty()) return {};
  Covering covering(gemm, device, seed);
  for (const Family& family : Families()) covering.Cover(family);
  return std::move(covering).plans();
}

}  // namespace gemmsmith
