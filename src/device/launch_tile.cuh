// Host side of `wgmma` kernels of any schedule in a standalone file: checks and tensor maps. Compiled by nvcc only.
// Asks at run time for the driver's function that encodes tensor maps.
#pragma once

#include <cuda.h>

#include "epilogue_tile.cuh"

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

// The map of a matrix with `lines` lines of `inner` elements, in boxes of width x box_lines, or of `depth` such panels
// side by side.
inline cudaError_t EncodeMap(TensorMap& map, bool is_f16, const void* address, cuuint64_t inner, cuuint64_t lines,
                             cuuint32_t width, cuuint32_t box_lines, cuuint32_t depth, bool is_streamed) {
  static const EncodeFunction encode = FindEncodeFunction();
  if (encode == nullptr) return cudaErrorNotSupported;
  const bool deep = depth > 1;
  const cuuint64_t extent[3] = {deep ? width : inner, lines, inner / width};
  const cuuint64_t strides[2] = {inner * 2, cuuint64_t(width) * 2};
  const cuuint32_t box[3] = {width, box_lines, depth}, steps[3] = {1, 1, 1};
  const int swizzle_bytes = SwizzleBytes(int(width));
  const CUtensorMapSwizzle swizzle = swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                           : CU_TENSOR_MAP_SWIZZLE_NONE;
  const bool fetches_128 = FetchBytes(is_streamed, 2.0 * double(inner) * double(lines)) == 128;
  const CUresult encoded = encode(
      reinterpret_cast<CUtensorMap*>(&map), is_f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
      deep ? 3 : 2, const_cast<void*>(address), extent, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      fetches_128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

template <class Operand>
cudaError_t EncodeOperand(TensorMap& map, bool is_f16, const void* address, int inner, int lines, bool is_streamed) {
  if (Operand::kDepth > 1 && inner % Operand::kWidth != 0) return cudaErrorInvalidValue;
  return EncodeMap(map, is_f16, address, inner, lines, Operand::kWidth, Operand::kSliceLines, Operand::kDepth,
                   is_streamed);
}

// For packed A, B and C. Returns cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t FillArguments(typename WgmmaTile<Config>::Arguments& arguments, const void* a, const void* b, void* c,
                          int m, int n, int k, void* workspace) {
  using Tile = WgmmaTile<Config>;
  const int lda = Config::kColumnMajorA ? m : k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  if (lda % 8 != 0 || ldb % 8 != 0 || ldc % Config::kStoreVector != 0) return cudaErrorInvalidValue;
  constexpr bool kIsF16 = IsSame<typename Config::Type, F16>::value;
  cudaError_t encoded =
      EncodeOperand<typename Tile::A>(arguments.a, kIsF16, a, lda, Config::kColumnMajorA ? k : m, Config::kStreamsA);
  if (encoded == cudaSuccess)
    encoded =
        EncodeOperand<typename Tile::B>(arguments.b, kIsF16, b, ldb, Config::kRowMajorB ? k : n, Config::kStreamsB);
  if constexpr (Tile::kStoresByTma)
    if (encoded == cudaSuccess)
      encoded = EncodeMap(arguments.c, kIsF16, c, n, m, StoredWidth(TileEpilogue<Config>::kBoxedColumns),
                          TileEpilogue<Config>::kBoxRows, 1, false);
  arguments.gemm = {a, b, c, workspace, m, n, k, lda, ldb, ldc};
  return encoded;
}

// The attributes belong to the current device, so set them at every launch.
template <class Arguments>
cudaError_t AllowAllSmem(void (*kernel)(Arguments)) {
  const cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return prepared != cudaSuccess
             ? prepared
             : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kHopperSmemBytes);
}

}  // namespace gemmsmith
