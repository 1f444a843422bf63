// Host side of a `direct` kernel in a standalone file: checks, geometry, launch. Compiled by nvcc only.
#pragma once

#include "gemm_direct.cuh"

namespace gemmsmith {

// For packed A, B and C. Returns cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(GemmArguments), const void* a, const void* b, void* c, int m, int n, int k,
                       void* workspace, size_t, cudaStream_t stream) {
  using Kernel = DirectKernel<Config>;
  const int lda = k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdA, lda) || differs(Config::kFixedLdB, ldb) ||
      differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  // The kernel's accesses are as wide as its own problem's leading dimensions allow.
  if (lda % Config::kLoadVector != 0 || ldb % Config::kLoadVector != 0 || ldc % Config::kStoreVector != 0)
    return cudaErrorInvalidValue;

  // The attribute belongs to the current device, so set it at every launch.
  constexpr int kSmemBytes = DirectSmemBytes(Config::kTileM, Config::kTileN, Config::kWarpsK);
  const cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  if (prepared != cudaSuccess) return prepared;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(CeilDivide(m, Config::kTileM), CeilDivide(n, Config::kTileN));
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = kSmemBytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, GemmArguments{a, b, c, workspace, m, n, k, lda, ldb, ldc});
}

}  // namespace gemmsmith
