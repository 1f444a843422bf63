// Launch geometry as a pure function of plan and problem, and the one argument block that GEMM kernels take.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// How the copy engine sees a matrix: boxes of it, clipped at its edges, swizzled in shared memory. Dimension 0 is the
// contiguous one.
struct TensorMap {
  enum class Matrix : uint8_t { kA, kB, kC };
  Matrix matrix = Matrix::kA;
  int rank = 2;                            // 2 or 3
  std::array<uint64_t, 3> extent{};        // elements
  std::array<uint64_t, 2> stride_bytes{};  // of dimensions 1 and 2
  std::array<uint32_t, 3> box{};           // elements
  uint32_t swizzle_bytes = 128;            // 0 (none), 32, 64 or 128
  uint32_t fetch_bytes = 256;              // that L2 has from memory at once: 128 or 256
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
  // The kernel walks over its tiles with any number of clusters: the grid, one CTA a tile and along x alone, is cut to
  // what the GPU holds at once.
  bool fills_gpu = false;
  // A cluster takes its first place by where its multiprocessors stand: the kernel is told ranks of them.
  bool is_placed = false;
  // Of these no more than leave the number of turns as it is: 512 tiles for 132 are 128 with four each.
  bool even_turns = false;
  // Its CTAs share tiles: they are as many as the GPU holds at once, even where there are fewer tiles.
  bool shares_rest = false;
  // Its CTAs wait for each other: they start all together or not at all (a cooperative launch). In a chain, where
  // nothing else runs beside it, it is an ordinary one.
  bool is_cooperative = false;
  // The kernel waits by itself for the launch before it, so that a chain of launches may overlap (programmatic
  // dependent launch).
  bool chainable = false;
  bool deterministic = true;           // equal inputs give equal bits, call after call
  ScalarType type = ScalarType::kF16;  // of the elements that the maps describe
  std::vector<TensorMap> maps;         // in the order in which the kernel takes them
  bool operator==(const Launch&) const = default;
};

// How many CTAs to launch where the GPU holds so many (whole clusters) at once.
uint32_t CtasToLaunch(const Launch& launch, uint32_t resident);

// What the CTAs that split K of `tiles` tiles meet in: a counter a tile, then so many f32 sums a tile.
// src/device/reduce.cuh lays it out.
uint64_t SplitWorkspaceBytes(uint64_t tiles, uint64_t sums_of_tile);

// What CTAs that share tiles along K hand their sums over in: words, then the sums of a tile each; src/device/rest.cuh
// has the same numbers.
inline constexpr uint32_t kMostSharers = 144;
uint64_t SharedRestBytes(uint64_t sums_of_tile);
// How many steps the CTA with the most of them has of the tiles that whole turns leave over; none where they cannot be
// shared.
std::optional<int> SharedRestSteps(int64_t tiles, int steps, int step_k, int sharers);

// What clusters take their places in; src/device/neighbours.cuh lays it out. Eight CTAs of 256 threads, the fewest that
// a persistent schedule has, are all that a multiprocessor holds.
inline constexpr uint64_t kPlacesBytes = 8192;

// For a plan that Check() finds legal for the problem.
Launch LaunchFor(const Plan& plan, const Gemm& gemm);

// The last part of every GEMM kernel's parameter block; src/device/types.cuh declares the same bytes.
struct GemmArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  int32_t m = 0, n = 0, k = 0;
  int32_t lda = 0, ldb = 0, ldc = 0;
};
static_assert(sizeof(GemmArguments) == 56);

GemmArguments ArgumentsFor(const Gemm& gemm, const void* a, const void* b, void* c, void* workspace);

}  // namespace gemmsmith
