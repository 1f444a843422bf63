// A small set of plans in which every live value that is worth trying for a problem occurs: tests run it instead of all
// plans. Values with device code of their own (schedules, roles) are each covered by themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed);

}  // namespace gemmsmith
