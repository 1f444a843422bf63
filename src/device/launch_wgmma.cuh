// The host's side of a `wgmma` kernel in a standalone file: checks, tensor maps, geometry, launch. Compiled by nvcc
// only; the driver's function that encodes tensor maps is asked for at run time.
#pragma once

#include <cuda.h>

#include "gemm_wgmma.cuh"

namespace gemmsmith {

using EncodeFunction = decltype(&cuTensorMapEncodeTiled);
inline EncodeFunction FindEncodeFunction() {
  cudaDriverEntryPointQueryResult found;
  void* function = nullptr;
  const cudaError_t asked =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  return asked == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeFunction>(function)
                                                                      : nullptr;
}

// A matrix of `lines` lines of `inner` elements, seen in boxes of width x box_lines (x depth panels side by side).
inline cudaError_t EncodeMap(TensorMap& map, bool is_f16, const void* address, cuuint64_t inner, cuuint64_t lines,
                             cuuint32_t width, cuuint32_t box_lines, cuuint32_t depth) {
  static const EncodeFunction encode = FindEncodeFunction();
  if (encode == nullptr) return cudaErrorNotSupported;
  const bool deep = depth > 1;
  const cuuint64_t extent[3] = {deep ? width : inner, lines, inner / width};
  const cuuint64_t strides[2] = {inner * 2, cuuint64_t(width) * 2};
  const cuuint32_t box[3] = {width, box_lines, depth}, steps[3] = {1, 1, 1};
  const CUtensorMapSwizzle swizzle = width == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : width == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : width == 16 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUresult encoded =
      encode(reinterpret_cast<CUtensorMap*>(&map),
             is_f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, deep ? 3 : 2,
             const_cast<void*>(address), extent, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

template <class Operand>
cudaError_t EncodeOperand(TensorMap& map, bool is_f16, const void* address, int inner, int lines) {
  if (Operand::kDepth > 1 && inner % Operand::kWidth != 0) return cudaErrorInvalidValue;
  return EncodeMap(map, is_f16, address, inner, lines, Operand::kWidth, Operand::kSliceLines, Operand::kDepth);
}

// Packed A, B and C. cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(typename WgmmaKernel<Config>::Arguments), const void* a, const void* b, void* c,
                       int m, int n, int k, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = WgmmaKernel<Config>;
  const int lda = k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  if (lda % 8 != 0 || ldb % 8 != 0 || ldc % Config::kStoreVector != 0) return cudaErrorInvalidValue;

  constexpr bool kIsF16 = IsSame<typename Config::Type, F16>::value;
  typename Kernel::Arguments arguments{};
  cudaError_t encoded = EncodeOperand<typename Kernel::A>(arguments.a, kIsF16, a, k, m);
  if (encoded == cudaSuccess)
    encoded = EncodeOperand<typename Kernel::B>(arguments.b, kIsF16, b, Config::kRowMajorB ? n : k,
                                                Config::kRowMajorB ? k : n);
  if constexpr (Config::kStoreByCopyEngine)
    if (encoded == cudaSuccess)
      encoded = EncodeMap(arguments.c, kIsF16, c, n, m, StoredPanels<Config::kTileN>::kWidth, 16, 1);
  if (encoded != cudaSuccess) return encoded;
  arguments.gemm = {a, b, c, workspace, m, n, k, lda, ldb, ldc};

  const unsigned tiles_m = CeilDivide(CeilDivide(m, Config::kTileM), Config::kClusterM) * Config::kClusterM;
  const unsigned tiles_n = CeilDivide(CeilDivide(n, Config::kTileN), Config::kClusterN) * Config::kClusterN;
  if constexpr (Config::kReduction == SplitReduction::kAdd) {
    const size_t tiles = size_t(tiles_m) * tiles_n;
    if (workspace_bytes < SplitCountersBytes(tiles) + tiles * Config::kTileM * Config::kTileN * sizeof(float))
      return cudaErrorInvalidValue;
  }

  constexpr int kMaxSmemBytes = 232448;
  const int steps = CeilDivide(k, Config::kStepK), steps_of_split = CeilDivide(steps, Config::kSplit);
  if (steps < Config::kSplit || (!Kernel::kIsRing && steps_of_split > Kernel::kMaxStages)) return cudaErrorInvalidValue;
  const int stages_bytes = (Kernel::kIsRing ? Config::kStages : steps_of_split) * Kernel::kStageBytes;
  const int smem_bytes = Kernel::kStagesStart + (Config::kStagingInStages ? stages_bytes > Kernel::kStagingBytes
                                                                                ? stages_bytes
                                                                                : Kernel::kStagingBytes
                                                                          : stages_bytes + Kernel::kStagingBytes);
  if (smem_bytes > kMaxSmemBytes) return cudaErrorInvalidValue;
  // Of the device that is current now.
  cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (prepared == cudaSuccess)
    prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxSmemBytes);
  if (prepared != cudaSuccess) return prepared;

  cudaLaunchConfig_t config{};
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Config::kClusterM, Config::kClusterN, 1};
  config.gridDim = dim3(tiles_m, tiles_n, Config::kSplit);
  if (Config::kRaster == kAlongN) {
    config.gridDim = dim3(tiles_n, tiles_m, Config::kSplit);
    cluster.val.clusterDim = {Config::kClusterN, Config::kClusterM, 1};
  } else if (Config::kRaster != kAlongM) {
    config.gridDim = dim3(tiles_m * tiles_n, 1, Config::kSplit);
    cluster.val.clusterDim = {Kernel::kClusterSize, 1, 1};
  }
  if (Kernel::kSplitsAreCluster) cluster.val.clusterDim.z = Config::kSplit;
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = Kernel::kClusterSize > 1 || Kernel::kSplitsAreCluster ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gemmsmith
