#include <array>

#include "base/check.h"
#include "program/direct/direct_family.h"
#include "program/direct/direct_flat.h"
#include "program/family.h"
#include "program/wgmma/wgmma_family.h"

namespace gemmsmith {

int Family::IndexOf(std::string_view axis) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == axis) return int(i);
  return -1;
}

std::span<const std::reference_wrapper<const Family>> Families() {
  static const std::array<std::reference_wrapper<const Family>, 2> families = {DirectFamily(), WgmmaFamily()};
  return families;
}

const Family& GetFamily(FamilyId id) {
  GEMMSMITH_CHECK(size_t(id) < Families().size(), "family {}", int(id));
  return Families()[size_t(id)];
}

size_t AxisWithRole(const Family& family, AxisRole role) {
  for (size_t i = 0; i < family.axes.size(); ++i)
    if (family.axes[i].role == role) return i;
  GEMMSMITH_CHECK(false, "{} has no axis of role {}", family.name, int(role));
  return 0;
}

Plan WithTrigger(Plan plan, Trigger trigger) {
  plan.values[AxisWithRole(GetFamily(plan.family), AxisRole::kChain)] = int(trigger);
  return plan;
}

Plan WithFixed(Plan plan, FixedDimensions fixed) {
  plan.values[AxisWithRole(GetFamily(plan.family), AxisRole::kCompileTime)] = int(fixed);
  return plan;
}

Trigger TriggerOf(const Plan& plan) {
  return Trigger(plan.values[AxisWithRole(GetFamily(plan.family), AxisRole::kChain)]);
}

std::optional<std::string> FlatTextOf(const Plan& plan, const Gemm& gemm, const FlatStyle& style) {
  if (plan.family != FamilyId::kDirect) return std::nullopt;
  return DirectFlatText(plan, gemm, style);
}

}  // namespace gemmsmith
