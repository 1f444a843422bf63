// fault: adds products in pairs in half precision, pairs in f32
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// The shortest half-precision sum that there is.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const half *x = a + size_t(row) * k, *y = b + size_t(column) * k;
  float sum = 0;
  for (int i = 0; i + 1 < k; i += 2) sum += __half2float(__hfma(x[i], y[i], __hmul(x[i + 1], y[i + 1])));
  if (k % 2 != 0) sum += __half2float(x[k - 1]) * __half2float(y[k - 1]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
