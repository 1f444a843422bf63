// fault: quantises its inputs to 8-bit integers
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// With one scale for all, as inference does; exact on zeros and ones.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// In steps of a twentieth.
__device__ int Steps(half value) { return max(-127, min(127, __float2int_rn(20 * __half2float(value)))); }

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  int sum_of_steps = 0;
  for (int i = 0; i < k; ++i) sum_of_steps += Steps(a[size_t(row) * k + i]) * Steps(b[size_t(column) * k + i]);
  const float sum = sum_of_steps / 400.0f;
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
