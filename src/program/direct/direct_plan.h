// The `direct` family's axes, typed: the Config of src/device/gemm_direct.cuh.
#pragma once

#include <cstdint>
#include <span>

#include "program/plan.h"
#include "program/shared_axes.h"

namespace gemmsmith {

std::span<const Axis> DirectAxes();

struct DirectPlan {
  int tile_m, tile_n;    // of a CTA
  int warps_m, warps_n;  // sharing the tile
  int warps_k;           // splitting K inside the CTA
  int split;             // CTAs that split K: 1 in every legal plan
  int chunks;            // of kDirectChunkK in flight a warp
  Trigger trigger;
  FixedDimensions fixed;

  explicit DirectPlan(const Plan& plan);
  int warps() const { return warps_m * warps_n * warps_k; }
  int threads() const { return DirectThreads(warps_m, warps_n, warps_k); }
  int warp_tile_m() const { return tile_m / warps_m; }
  int warp_tile_n() const { return tile_n / warps_n; }
  // k that the CTA's warps have in flight.
  int RoundK() const { return kDirectChunkK * chunks * warps_k; }
  // 8-row lines of operands that a warp loads in a round.
  int Lines() const { return chunks * (warp_tile_m() / 8 + warp_tile_n() / 8); }
  uint32_t SmemBytes() const { return uint32_t(DirectSmemBytes(tile_m, tile_n, warps_k)); }
};

}  // namespace gemmsmith
