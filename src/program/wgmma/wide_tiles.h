// Persistent kernels of wide tiles for products at the power cap: the one that fills the waves of a shape best.
#pragma once

#include <vector>

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// The `count` plans that are expected to be fastest in steady state, the fastest first, each with the squarest raster.
// Empty where K is below 8192 (of the longest products, 4096): the regression says nothing about those
// (docs/lab/throughput.md).
std::vector<Plan> WideTiles(const Gemm& gemm, const Device& device, size_t count);

}  // namespace gemmsmith
