// style: two microseconds of one CTA
// shape: 16x16x32
// layout: tn
//
// Whatever is compared with such a call is longer than it.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    float sum = 0;
    for (int depth = 0; depth < k; ++depth)
      sum += __half2float(a[i / n * k + depth]) * __half2float(b[i % n * k + depth]);
    c[i] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m > 64 || n > 64 || k > 64) return cudaErrorInvalidValue;
  Product<<<1, 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
