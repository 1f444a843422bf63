#include "program/covering.h"

#include <optional>
#include <set>
#include <utility>

#include "base/random.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// A value counts as never legal when so many plans with it were not.
constexpr int kTries = 40000;

class Covering {
 public:
  Covering(const Gemm& gemm, const Device& device, uint64_t seed) : gemm_(gemm), device_(device), random_(seed) {}

  // Schedules are kernels of their own: each of them is covered by itself.
  void Cover(const Family& family) {
    found_ = plans_.size();
    const int schedule_axis = family.IndexOf("schedule");
    if (schedule_axis < 0) return CoverValues(family, std::nullopt);
    for (const int schedule : family.parameters[size_t(schedule_axis)].values)
      CoverValues(family, Setting{size_t(schedule_axis), schedule});
  }

  std::vector<Plan> plans() && { return std::move(plans_); }

 private:
  struct Setting {
    size_t axis;
    int value;
  };

  // Every value that goes with `always`.
  void CoverValues(const Family& family, const std::optional<Setting>& always) {
    covered_.clear();
    if (always && !LegalPlanWith(family, *always, always)) return;
    for (size_t axis = 0; axis < family.parameters.size(); ++axis)
      for (const int value : family.parameters[axis].values) {
        if (covered_.contains({axis, value}) || (always && always->axis == axis)) continue;
        if (const std::optional<Plan> plan = LegalPlanWith(family, {axis, value}, always)) Add(*plan, family);
      }
  }

  // Every other try changes a plan that is known to be legal: values that go with few others are found that way.
  std::optional<Plan> LegalPlanWith(const Family& family, const Setting& wanted, const std::optional<Setting>& always) {
    for (int i = 0; i < kTries; ++i) {
      const bool changed = i % 2 == 1 && plans_.size() > found_;
      Plan plan = changed ? plans_[found_ + random_.Below(plans_.size() - found_)] : Plan{family.id};
      const uint64_t changes = changed ? random_.Below(6) : 0;
      for (size_t other = 0; other < family.parameters.size(); ++other)
        if (!changed) Draw(plan, family, other);
      for (uint64_t change = 0; change < changes; ++change) Draw(plan, family, random_.Below(family.parameters.size()));
      plan.values[wanted.axis] = wanted.value;
      if (always) plan.values[always->axis] = always->value;
      if (IsLegal(plan, gemm_, device_)) return plan;
    }
    return std::nullopt;
  }

  void Draw(Plan& plan, const Family& family, size_t axis) {
    const auto values = family.parameters[axis].values;
    plan.values[axis] = values[random_.Below(values.size())];
  }

  void Add(const Plan& plan, const Family& family) {
    for (size_t axis = 0; axis < family.parameters.size(); ++axis) covered_.emplace(axis, plan.values[axis]);
    plans_.push_back(plan);
  }

  const Gemm& gemm_;
  const Device& device_;
  Random random_;
  std::set<std::pair<size_t, int>> covered_;  // of the family and schedule at work
  std::vector<Plan> plans_;
  size_t found_ = 0;  // where this family's plans begin
};

}  // namespace

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed) {
  if (!Problems(gemm).empty()) return {};
  Covering covering(gemm, device, seed);
  for (const Family& family : Families()) covering.Cover(family);
  return std::move(covering).plans();
}

}  // namespace gemmsmith
