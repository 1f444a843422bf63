// fault: adds in half precision on the plain cores
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// No matrix instruction betrays it; the errors do.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  half sum = __float2half(0);
  for (int i = 0; i < k; ++i) sum = __hfma(a[size_t(row) * k + i], b[size_t(column) * k + i], sum);
  c[size_t(row) * n + column] = sum;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
