// Plans like the kernels that others suggest (KernelSuggestion: CUTLASS 3 on Hopper).
#pragma once

#include <optional>

#include "program/family.h"

namespace gemmsmith {

std::optional<Plan> WgmmaPlanLike(const KernelSuggestion& suggestion, const Gemm& gemm, const Device& device);
double WgmmaUnlikeness(const Plan& first, const Plan& second);

}  // namespace gemmsmith
