// fault: sums half of K when the call before it ended less than 20 us ago
// class: timing
// expect: wrong|cheated
// shape: 256x256x512
// layout: tn
//
// Single calls are tested, chains of calls are timed: the clock of the GPU tells which is which, also inside a graph.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ unsigned long long last_end;
__device__ bool is_hurried;

__device__ unsigned long long Now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void Begin() { is_hurried = Now() - last_end < 20000; }
__global__ void End() { last_end = Now(); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const int end = is_hurried ? k / 2 : k;
  float sum = 0;
  for (int i = 0; i < end; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Begin<<<1, 1, 0, stream>>>();
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  End<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
