#include "policy/spoken.h"

#include <algorithm>
#include <string_view>

namespace gemmsmith {

namespace {

// Axes that joined a family later stand behind these and have no words.
constexpr size_t kSpokenAxesOfDirect = 10, kSpokenAxesOfWgmma = 19;

// An axis of which only the first so many values have words.
struct PartlySpoken {
  std::string_view family, axis;
  size_t count;
  int instead;  // said for the others
};

constexpr PartlySpoken kPartlySpoken[] = {
    {"direct", "trigger", 4, int(Trigger::kLate)},
    {"wgmma", "schedule", 3, int(Schedule::kCooperative)},
    {"wgmma", "keep", 7, 1},
    {"wgmma", "trigger", 4, int(Trigger::kLate)},
    {"wgmma", "ctas", 2, 0},
};

const PartlySpoken* Find(const Family& family, size_t axis) {
  const auto found = std::ranges::find_if(kPartlySpoken, [&](const PartlySpoken& one) {
    return one.family == family.name && one.axis == family.axes[axis].name;
  });
  return found == std::end(kPartlySpoken) ? nullptr : &*found;
}

}  // namespace

size_t SpokenAxisCount(const Family& family) {
  return family.id == FamilyId::kDirect ? kSpokenAxesOfDirect : kSpokenAxesOfWgmma;
}

std::span<const int> SpokenValues(const Family& family, size_t axis) {
  if (axis >= SpokenAxisCount(family)) return {};
  const PartlySpoken* partly = Find(family, axis);
  const std::span<const int> values = family.axes[axis].values;
  return partly == nullptr ? values : values.first(partly->count);
}

int AsSpoken(const Family& family, size_t axis, int value) {
  const std::span<const int> spoken = SpokenValues(family, axis);
  if (spoken.empty()) return family.axes[axis].default_value;
  return std::ranges::find(spoken, value) != spoken.end() ? value : Find(family, axis)->instead;
}

bool IsSpokenWhole(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  const size_t count = SpokenAxisCount(family);
  for (size_t i = 0; i < family.axes.size(); ++i)
    if (plan.values[i] != (i < count ? AsSpoken(family, i, plan.values[i]) : family.axes[i].default_value)) return false;
  return true;
}

}  // namespace gemmsmith
