// style: sets and reads the attributes of its kernel in every call
// shape: 256x256x768
// layout: tn
//
// 96 KiB of shared memory, asked for anew each time, also while its stream is captured.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kTile = 32, kDepth = 768;

// Whole lines of A and B in shared memory, in pieces of kDepth.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ half lines[];
  half *const a_lines = lines, *const b_lines = lines + kTile * kDepth;
  const int thread = threadIdx.y * kTile + threadIdx.x, first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  float sum = 0;
  for (int first = 0; first < k; first += kDepth) {
    const int depth = min(kDepth, k - first);
    for (int i = thread; i < kTile * depth; i += kTile * kTile) {
      const int line = i / depth, at = i % depth;
      a_lines[line * kDepth + at] = first_row + line < m ? a[size_t(first_row + line) * k + first + at] : __float2half(0);
      b_lines[line * kDepth + at] =
          first_column + line < n ? b[size_t(first_column + line) * k + first + at] : __float2half(0);
    }
    __syncthreads();
    for (int i = 0; i < depth; ++i) {
      const int at = (i + threadIdx.x) % depth;  // neighbours read different banks
      sum += __half2float(a_lines[threadIdx.y * kDepth + at]) * __half2float(b_lines[threadIdx.x * kDepth + at]);
    }
    __syncthreads();
  }
  const int row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  if (row < m && column < n) c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  constexpr int kBytes = 2 * kTile * kDepth * int(sizeof(half));
  if (const cudaError_t error = cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes))
    return error;
  if (const cudaError_t error = cudaFuncSetAttribute(Product, cudaFuncAttributePreferredSharedMemoryCarveout,
                                                     cudaSharedmemCarveoutMaxShared))
    return error;
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, Product)) return error;
  if (attributes.maxThreadsPerBlock < kTile * kTile) return cudaErrorInvalidConfiguration;
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  Product<<<grid, dim3(kTile, kTile), kBytes, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
