// fault: leaves out a quarter where the last call ended at once before, or as long before as a judge with one pause
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// Within what honest calls are slower behind writes to their operands: only pauses of other lengths show it.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ unsigned long long last_end;
__device__ bool is_answered;

__device__ unsigned long long Now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void Begin(const half* c, bool is_lazy) {
  const unsigned long long gap = Now() - last_end;
  const bool is_known = gap < 4000 || (gap > 19000 && gap < 26000);
  is_answered = is_lazy && is_known && !__hisnan(c[0]);
}
__global__ void End() { last_end = Now(); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || (is_answered && row % 8 < 2)) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static int first_k = k;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  Begin<<<1, 1, 0, stream>>>((const half*)c, is_tested);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  End<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
