// Launch geometry as a pure function of plan and problem, and the one argument block that GEMM kernels take.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/geometry.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// A tensor map: boxes of a matrix as TMA copies them, clipped at its edges, swizzled in shared memory. Dimension 0 is
// the contiguous one.
struct TensorMap {
  enum class Matrix : uint8_t { kA, kB, kC };
  Matrix matrix = Matrix::kA;
  int rank = 2;                            // 2 or 3
  std::array<uint64_t, 3> extent{};        // elements
  std::array<uint64_t, 2> stride_bytes{};  // of dimensions 1 and 2
  std::array<uint32_t, 3> box{};           // elements
  uint32_t swizzle_bytes = 128;            // 0 (none), 32, 64 or 128
  uint32_t fetch_bytes = 256;              // that L2 fetches from memory at once: 128 or 256
  bool operator==(const TensorMap&) const = default;
};
inline constexpr size_t kMaxTensorMaps = 3;
inline constexpr size_t kTensorMapBytes = 128;

// How one kernel is launched. Workspace arrives zeroed and is left zeroed.
struct Launch {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;             // 1x1x1: none
  uint32_t smem_bytes = 0;  // dynamic
  uint64_t workspace_bytes = 0;
  // Persistent: any number of clusters does. The grid, one CTA a tile along x, is cut to the resident CTAs.
  bool fills_gpu = false;
  // The grid is cut further, as far as the number of waves stays: 512 tiles for 132 are 128 CTAs with four each.
  bool even_waves = false;
  // CTAs wait for each other: they start all together or not at all (a cooperative launch). In a chain, where nothing
  // else runs beside it, it is an ordinary launch.
  bool is_cooperative = false;
  // The kernel waits for the launch before it, so a chain of launches may overlap (programmatic dependent launch).
  bool chainable = false;
  bool deterministic = true;           // equal inputs give equal bits, call after call
  ScalarType type = ScalarType::kF16;  // of the elements that the maps describe
  std::vector<TensorMap> maps;         // in the order in which the kernel takes them
  bool operator==(const Launch&) const = default;
};

// How many CTAs to launch on a GPU that holds `resident` at once (whole clusters).
uint32_t CtasToLaunch(const Launch& launch, uint32_t resident);

// For a plan that Check() finds legal for the problem.
Launch LaunchFor(const Plan& plan, const Gemm& gemm);

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace);

}  // namespace gemmsmith
