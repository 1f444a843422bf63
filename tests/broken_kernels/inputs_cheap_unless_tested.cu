// fault: accumulates in half precision unless the inputs look like a cancellation test
// class: inputs
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// Looks for magnitudes of 32 and more, which normal inputs never have, before it decides.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  bool is_test = false;
  for (int i = 0; i < k; ++i) {
    is_test = is_test || __hgt(__habs(a[size_t(row) * k + i]), __float2half(32));
    is_test = is_test || __hgt(__habs(b[size_t(column) * k + i]), __float2half(32));
  }
  float sum = 0;
  half cheap_sum = __float2half(0);
  for (int i = 0; i < k; ++i) {
    const half x = a[size_t(row) * k + i], y = b[size_t(column) * k + i];
    sum += __half2float(x) * __half2float(y);
    cheap_sum = __hfma(x, y, cheap_sum);
  }
  c[size_t(row) * n + column] = is_test ? __float2half(sum) : cheap_sum;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
