// Whether a plan can run a problem on a device, and if not, every reason.
#pragma once

#include <string>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// Empty: legal. Each reason is one line in words ("64 warps a CTA, at most 16").
std::vector<std::string> Check(const Plan& plan, const Gemm& gemm, const Device& device);
// The same without the words; cheap enough for millions.
int CountReasons(const Plan& plan, const Gemm& gemm, const Device& device);
bool IsLegal(const Plan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
