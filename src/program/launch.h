// Launch geometry as a pure function of plan and problem, and the one argument block that GEMM kernels take.
#pragma once

#include <cstdint>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// How one kernel is launched. Workspace arrives zeroed and is left zeroed.
struct Launch {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;             // 1x1x1: none
  uint32_t smem_bytes = 0;  // dynamic
  uint64_t workspace_bytes = 0;
  bool operator==(const Launch&) const = default;
};

// For a plan that Check() finds legal for the problem.
Launch LaunchFor(const Plan& plan, const Gemm& gemm);

// The kernel parameter of every GEMM kernel; src/device/types.cuh declares the same bytes.
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
