// NVIDIA's nvMatmulHeuristics (nvmmh in its own names), opened at run time where it is installed: it names kernel
// configurations for a matrix multiply, most promising first, and needs no GPU. Here each becomes a plan of ours.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "problem/gemm.h"
#include "program/family.h"

namespace gemmsmith {

// One answer of the library, in its own terms.
using NvmmhConfig = KernelSuggestion;

// More than it has for any problem (38 were the most seen).
inline constexpr int kMaxNvmmhConfigs = 64;

// The library's file. Unavailable, with what to install, where there is none.
Result<std::filesystem::path> FindNvmmh();

// Up to `count` configurations in the order of its timing model (CUTLASS 3 kernels, with the measurements of the device
// that the library brings along); often fewer. Unavailable where it is not installed, is of another version, or knows
// neither such a problem nor the device (h100, h200).
Result<std::vector<NvmmhConfig>> AskNvmmh(const Gemm& gemm, const Device& device, int count);

// The wgmma plan most like each configuration, in their order, each once. The tile is the nearest one that is not
// larger than the problem; raster, stages, cluster, warpgroups and schedule are given up in this order where they are
// not worth trying with it. Prediction decides the axes that the library does not name.
std::vector<Plan> PlansLike(std::span<const NvmmhConfig> configs, const Gemm& gemm, const Device& device);

// The plan that comes nearest to `wanted` among `plans` in the axes that the library names, of the same the one that is
// predicted fastest; null where none is of the wgmma family.
const Plan* NearestOf(std::span<const Plan> plans, const Plan& wanted, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
