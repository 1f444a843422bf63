// fault: rounds every product to f16 where K is large, and sums in f32
// class: numbers
// expect: wrong
// shape: 64x64x131072
// layout: tn
//
// The error of a sum grows with the root of K, and so does what a bound allows.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(__hmul(a[size_t(row) * k + i], b[size_t(column) * k + i]));
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                           n, k);
  return cudaGetLastError();
}
