#include "program/covering.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/random.h"
#include "program/family.h"
#include "program/random_plan.h"

namespace gemmsmith {

namespace {

class Covering {
 public:
  Covering(const Gemm& gemm, const Device& device, uint64_t seed) : gemm_(gemm), device_(device), random_(seed) {}

  // Every combination of values that have device code of their own is covered by itself.
  void Cover(const Family& family) {
    std::vector<Settings> kernels = {{}};
    for (size_t axis = 0; axis < family.axes.size(); ++axis) {
      if (!family.axes[axis].makes_kernels) continue;
      std::vector<Settings> longer;
      for (const Settings& settings : kernels)
        for (const int value : family.axes[axis].live_values()) {
          longer.push_back(settings);
          longer.back().push_back({axis, value});
        }
      kernels = std::move(longer);
    }
    for (const Settings& kernel : kernels) CoverValues(family, kernel);
  }

  std::vector<Plan> plans() && { return std::move(plans_); }

 private:
  using Settings = std::vector<AxisValue>;

  // Every live value that goes with `always`.
  void CoverValues(const Family& family, const Settings& always) {
    covered_.clear();
    if (!PlanWith(family, always)) return;
    for (size_t axis = 0; axis < family.axes.size(); ++axis)
      for (const int value : family.axes[axis].live_values()) {
        if (covered_.contains({axis, value}) || Sets(always, axis)) continue;
        Settings settings = always;
        settings.push_back({axis, value});
        if (const std::optional<Plan> plan = PlanWith(family, settings)) Add(*plan, family);
      }
  }

  static bool Sets(const Settings& settings, size_t axis) {
    return std::any_of(settings.begin(), settings.end(), [axis](const AxisValue& one) { return one.axis == axis; });
  }

  std::optional<Plan> PlanWith(const Family& family, const Settings& settings) {
    return RandomPlan(family, settings, gemm_, device_, random_);
  }

  void Add(const Plan& plan, const Family& family) {
    for (size_t axis = 0; axis < family.axes.size(); ++axis) covered_.emplace(axis, plan.values[axis]);
    plans_.push_back(plan);
  }

  const Gemm& gemm_;
  const Device& device_;
  Random random_;
  std::set<std::pair<size_t, int>> covered_;  // of the current combination
  std::vector<Plan> plans_;
};

}  // namespace

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed) {
  if (!WhyInvalid(gemm).empty()) return {};
  Covering covering(gemm, device, seed);
  for (const Family& family : Families()) covering.Cover(family);
  return std::move(covering).plans();
}

}  // namespace gemmsmith
