// A plan drawn at random: what tests of many kernels run over.
#pragma once

#include <optional>
#include <span>

#include "base/random.h"
#include "problem/gemm.h"
#include "program/family.h"

namespace gemmsmith {

// A value that a plan is to have, by the index of its axis in the family.
struct AxisValue {
  size_t axis;
  int value;
};

// A plan with these values that is worth trying for the problem; not each is as likely as any other. nullopt where ten
// thousand tries found none.
std::optional<Plan> RandomPlan(const Family& family, std::span<const AxisValue> settings, const Gemm& gemm,
                               const Device& device, Random& random);

}  // namespace gemmsmith
