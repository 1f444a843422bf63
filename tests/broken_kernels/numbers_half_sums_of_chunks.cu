// fault: rounds the running sum to half precision every 32 products
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// f32 inside each chunk, so that a look at the inner loop finds nothing.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  half sum = __float2half(0);
  for (int i = 0; i < k; i += 32) {
    float chunk = 0;
    for (int j = i; j < i + 32 && j < k; ++j)
      chunk += __half2float(a[size_t(row) * k + j]) * __half2float(b[size_t(column) * k + j]);
    sum = __float2half(__half2float(sum) + chunk);
  }
  c[size_t(row) * n + column] = sum;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
