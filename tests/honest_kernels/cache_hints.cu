// style: loads with hints to L2: A is to stay, B is to go
// shape: 256x256x512
// layout: tn
//
// As the copy engine takes them too; no part of L2 is set aside by it.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ unsigned long long Policy(bool stays) {
  unsigned long long policy;
  if (stays)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ float Load(const half* from, unsigned long long policy) {
  unsigned short bits;
  asm volatile("ld.global.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(bits) : "l"(from), "l"(policy));
  return __half2float(__ushort_as_half(bits));
}

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const unsigned long long stays = Policy(true), goes = Policy(false);
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += Load(a + size_t(row) * k + i, stays) * Load(b + size_t(column) * k + i, goes);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
