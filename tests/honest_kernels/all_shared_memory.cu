// style: all the dynamic shared memory that a CTA can have
// shape: 64x64x1024
// layout: tn
//
// 32 lines of A and 64 of B whole in shared memory, padded: about 194 KiB, asked for with the 227 KiB there are.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kRows = 32, kColumns = 64, kMaxSharedBytes = 227 * 1024;

__global__ void __launch_bounds__(256) Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ half lines[];
  const int stride = k + 2, first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
  half* a_lines = lines;
  half* b_lines = lines + kRows * stride;
  for (int line = 0; line < kRows; ++line)
    for (int i = threadIdx.x; i < k; i += 256)
      a_lines[line * stride + i] = first_row + line < m ? a[size_t(first_row + line) * k + i] : __float2half(0);
  for (int line = 0; line < kColumns; ++line)
    for (int i = threadIdx.x; i < k; i += 256)
      b_lines[line * stride + i] = first_column + line < n ? b[size_t(first_column + line) * k + i] : __float2half(0);
  __syncthreads();
  for (int element = threadIdx.x; element < kRows * kColumns; element += 256) {
    const int y = element / kColumns, x = element % kColumns;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a_lines[y * stride + i]) * __half2float(b_lines[x * stride + i]);
    if (first_row + y < m && first_column + x < n) c[size_t(first_row + y) * n + first_column + x] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (size_t(kRows + kColumns) * (k + 2) * sizeof(half) > kMaxSharedBytes) return cudaErrorInvalidValue;
  const cudaError_t allowed =
      cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxSharedBytes);
  if (allowed != cudaSuccess) return allowed;
  const dim3 grid((n + kColumns - 1) / kColumns, (m + kRows - 1) / kRows);
  Product<<<grid, 256, kMaxSharedBytes, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
