#pragma once

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

double WgmmaTimeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device);

// Distinct bytes of A and B that the tiles of one wave read, by the plan's raster.
double WaveBytes(const WgmmaPlan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
