// Persistent kernels of wide tiles for products that run at the power cap: which one fills the waves of a shape.
#pragma once

#include <vector>

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// So many, the one that is expected to settle fastest first, each with the squarest raster where that asks L2 for 5 %
// less; none where K is less than 8192 (of the longest products, 4096), for which this says nothing
// (docs/lab/throughput.md), or where none is legal. Of the longest as many again that share what whole turns leave
// over, among these.
std::vector<Plan> WideTiles(const Gemm& gemm, const Device& device, size_t count);

}  // namespace gemmsmith
