// Other forms of a wgmma plan that are worth racing against it.
#pragma once

#include <optional>

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// The raster whose waves read the fewest bytes through L2; nullopt where the plan's own is nearly as good.
std::optional<Plan> SquarerRaster(const Plan& plan, const Gemm& gemm, const Device& device);
// The longest ring within so many bytes of shared memory; nullopt where K is not split or the plan's ring fits.
std::optional<Plan> ShorterRing(const Plan& plan, const Gemm& gemm, int64_t most_bytes);

}  // namespace gemmsmith
