// style: plain CUDA, one thread an element, bf16
// shape: 256x256x512
// layout: nn
// type: bf16
//
// Row-major B, so that neighbouring threads read neighbouring elements.
#include <cuda_bf16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn bf16 f32";

__global__ void Product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __bfloat162float(a[size_t(row) * k + i]) * __bfloat162float(b[size_t(i) * n + column]);
  c[size_t(row) * n + column] = __float2bfloat16(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(
      (const __nv_bfloat16*)a, (const __nv_bfloat16*)b, (__nv_bfloat16*)c, m, n, k);
  return cudaGetLastError();
}
