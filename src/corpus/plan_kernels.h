// Whether a kernel that a model wrote is that of a plan.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// For each source, whether it is the flat kernel of one of the plans in one of the styles: the same tokens, whatever
// its names and comments. Plans are legal for the problem.
std::vector<bool> AreKernelsOf(std::span<const Plan> plans, const Gemm& gemm, std::span<const std::string> sources);

}  // namespace gemmsmith
