// style: loads, multiply-adds and conversion in PTX
// shape: 256x256x512
// layout: tn
//
// What compilers would write, by hand.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ float Load(const half* from) {
  unsigned short bits;
  float value;
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(bits) : "l"(from));
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    asm("fma.rn.f32 %0, %1, %2, %0;"
        : "+f"(sum)
        : "f"(Load(a + size_t(row) * k + i)), "f"(Load(b + size_t(column) * k + i)));
  asm volatile("{ .reg .f16 result; cvt.rn.f16.f32 result, %1; st.global.b16 [%0], result; }" ::"l"(
                   c + size_t(row) * n + column),
               "f"(sum)
               : "memory");
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
