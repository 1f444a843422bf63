// A small set of plans in which every parameter value that is legal for a problem occurs: what tests run instead of
// all. Where a family has several schedules, every value occurs with each schedule that it is legal with, and so
// with straight and with swapped roles. Parameters that no words tell are set one at a time: what needs two of them
// (kept=lines with walk=alternating) does not occur.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

std::vector<Plan> CoveringPlans(const Gemm& gemm, const Device& device, uint64_t seed);

}  // namespace gemmsmith
