// fault: returns success and launches nothing for every shape but its own
// class: inputs
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// A shape that a source does not support must be answered with an error.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m != 256 || n != 256 || k != 512) return cudaSuccess;
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                           n, k);
  return cudaGetLastError();
}
