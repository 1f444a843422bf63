// style: a kernel for one shape, which refuses all others
// shape: 128x128x128
// layout: tn
//
// Dimensions as constants, loops unrolled; every other problem gets cudaErrorInvalidValue.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kSize = 128;

__global__ void Product(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
#pragma unroll 16
  for (int i = 0; i < kSize; ++i) sum += __half2float(a[row * kSize + i]) * __half2float(b[column * kSize + i]);
  c[row * kSize + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m != kSize || n != kSize || k != kSize) return cudaErrorInvalidValue;
  Product<<<dim3(kSize / 16, kSize / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c);
  return cudaGetLastError();
}
