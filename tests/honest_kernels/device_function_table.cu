// style: calls device functions through a table
// shape: 200x136x777
// layout: tn
//
// Functions that the compiler cannot put into their callers: each has machine code of its own, and a stack.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using Sum_t = float (*)(const half* x, const half* y, int k);

__device__ __noinline__ float SumOne(const half* x, const half* y, int k) {
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(x[i]) * __half2float(y[i]);
  return sum;
}
__device__ __noinline__ float SumFour(const half* x, const half* y, int k) {
  float sums[4] = {};
  for (int i = 0; i < k; ++i) sums[i % 4] += __half2float(x[i]) * __half2float(y[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
__constant__ Sum_t sums[] = {SumOne, SumFour};

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const float sum = sums[(column + k) % 2](a + size_t(row) * k, b + size_t(column) * k, k);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
