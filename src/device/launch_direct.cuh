// The host's side of a `direct` kernel in a standalone file: checks, geometry, launch. Compiled by nvcc only.
#pragma once

#include "gemm_direct.cuh"

namespace gemmsmith {

// Packed A, B and C. cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(GemmArguments), const void* a, const void* b, void* c, int m, int n, int k,
                       void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = DirectKernel<Config>;
  const int lda = k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdA, lda) || differs(Config::kFixedLdB, ldb) ||
      differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  // Accesses are as wide as the leading dimensions of the problem it was made for allowed.
  if (lda % Config::kLoadVector != 0 || ldb % Config::kLoadVector != 0 || ldc % Config::kStoreVector != 0)
    return cudaErrorInvalidValue;

  const dim3 grid(CeilDivide(m, Config::kTileM), CeilDivide(n, Config::kTileN), Config::kSplit);
  if constexpr (Config::kReduction != SplitReduction::kNone) {
    const size_t tiles = size_t(grid.x) * grid.y;
    const size_t sums = (Config::kReduction == SplitReduction::kAdd ? 1 : Config::kSplit) * tiles;
    if (workspace_bytes < SplitCountersBytes(tiles) + sums * Config::kTileM * Config::kTileN * sizeof(float))
      return cudaErrorInvalidValue;
  }

  constexpr int kSmemBytes =
      Config::kWarpsK == 1 ? 0
                           : Config::kWarpsK * SharedTile<Config::kTileM, Config::kTileN>::kFloats * int(sizeof(float));
  // Of the device that is current now.
  const cudaError_t prepared =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  if (prepared != cudaSuccess) return prepared;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = kSmemBytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, GemmArguments{a, b, c, workspace, m, n, k, lda, ldb, ldc});
}

}  // namespace gemmsmith
