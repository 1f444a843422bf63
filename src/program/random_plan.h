// A legal plan drawn at random: what tests of many kernels run over.
#pragma once

#include <optional>
#include <span>

#include "base/random.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// A value that a plan is to have, by the index of its parameter in the family.
struct AxisValue {
  size_t axis;
  int value;
};

// One with these values, legal for the problem; not each as likely as any other. Nothing where there is none, which is
// known only from ten thousand tries that found none.
std::optional<Plan> RandomLegalPlan(const Family& family, std::span<const AxisValue> settings, const Gemm& gemm,
                                    const Device& device, Random& random);

}  // namespace gemmsmith
