// NVIDIA's nvMatmulHeuristics (nvmmh in its own names), opened at run time where it is installed: it names kernel
// configurations for a matrix multiply, best hope first, and needs no GPU. Here each becomes a plan of ours.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// One answer of the library, in its own terms: a kernel like those of CUTLASS 3.
struct NvmmhConfig {
  int tile_m = 0, tile_n = 0, tile_k = 0;  // of a CTA
  int warp_m = 0, warp_n = 0, warp_k = 0;  // of a warp: their ratio is the number of warps
  int split = 1;
  int stages = 0;
  int swizzle = 1;       // CTAs in groups of so many rows (along m: columns)
  bool along_m = false;  // neighbouring CTAs lie along m, else along n
  int cluster_m = 1, cluster_n = 1;
};

// More than it has for any problem (38 were the most seen).
inline constexpr int kMostNvmmhConfigs = 64;

// The library's file. Unavailable, with what to install, where there is none.
Result<std::filesystem::path> FindNvmmh();

// Up to `count` configurations in the order of its timing model (CUTLASS 3 kernels, with the measurements of the device
// that the library brings along); often fewer. Unavailable where it is not installed, is of another version, or knows
// neither such a problem nor the device (h100, h200).
Result<std::vector<NvmmhConfig>> AskNvmmh(const Gemm& gemm, const Device& device, int count);

// The legal wgmma plan that is like the configuration: the nearest tile that is not larger than the problem, and of the
// rest what is legal with it, giving up raster, stages, cluster, warpgroups and schedule in this order. What the
// library does not name (schedule, reduction, store) is decided by the number of tiles and by prediction. None for
// problems that the family does not do.
std::optional<Plan> NearestLegalPlan(const NvmmhConfig& config, const Gemm& gemm, const Device& device);

// Those of all configurations, in their order, each once.
std::vector<Plan> NearestLegalPlans(std::span<const NvmmhConfig> configs, const Gemm& gemm, const Device& device);

// The plan that comes nearest to `wanted` among `plans` in the axes that the library names, of the same the one that is
// predicted fastest; null where none is of the wgmma family.
const Plan* NearestOf(std::span<const Plan> plans, const Plan& wanted, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
