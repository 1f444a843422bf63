// The `direct` family on the host: its parameters, typed; mirrors src/device/gemm_direct.cuh.
#pragma once

#include <string>

#include "program/axes.h"
#include "program/launch.h"
#include "program/plan.h"
#include "program/reasons.h"

namespace gemmsmith {

struct DirectPlan {
  int tile_m, tile_n;        // of a CTA
  int warps_m, warps_n;      // sharing the tile
  int warps_k;               // splitting K inside the CTA
  int split;                 // splitting K over CTAs
  SplitReduction reduction;  // kAdd or kOrdered; kExchange in old records, never legal
  int chunks;                // of 32 k in flight a warp
  Trigger trigger;
  FixedDimensions fixed;

  explicit DirectPlan(const Plan& plan);
  int warps() const { return warps_m * warps_n * warps_k; }
  int threads() const { return 32 * warps(); }
  int warp_tile_m() const { return tile_m / warps_m; }
  int warp_tile_n() const { return tile_n / warps_n; }
  uint32_t SmemBytes() const;
};

const Family& DirectFamily();
void CheckDirect(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons);
Launch LaunchDirect(const DirectPlan& plan, const Gemm& gemm);
// "struct Config { ... };" for the device template. Accesses are as wide as the problem's leading dimensions allow.
std::string DirectConfigText(const DirectPlan& plan, const Gemm& gemm);

}  // namespace gemmsmith
