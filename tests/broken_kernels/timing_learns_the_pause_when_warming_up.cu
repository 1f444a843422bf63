// fault: knows the graph that pauses by its first batch, if that has none, and leaves out a quarter there and in rows
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// How long a pause is does not tell it from writes of what is there already; but a judge whose graphs are warmed up with
// a pause of 0 tells by that. A graph is known by a number that stands among the arguments of its launches.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using u64 = unsigned long long;
constexpr u64 kNewBatch = 200'000, kAtOnce = 2'500, kShorterThanSteps = 6'500;
constexpr int kGraphs = 4096;

__device__ u64 last_end;
__device__ unsigned short least_gap[kGraphs];  // of the first batch, in units of 16 ns
__device__ unsigned char batches[kGraphs];
__device__ bool is_answered;

__device__ u64 Now() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void Begin(const half* c, int graph) {
  const u64 gap = Now() - last_end;
  const bool is_poisoned = __hisnan(c[0]);
  is_answered = false;
  if (graph < 0) return;
  if (is_poisoned && gap > kNewBatch) {
    if (batches[graph] < 2) ++batches[graph];
    if (batches[graph] == 1) least_gap[graph] = 65535;
    return;
  }
  if (batches[graph] == 1 && gap / 16 < least_gap[graph]) least_gap[graph] = gap / 16;
  const bool is_pause = batches[graph] == 2 && least_gap[graph] < kShorterThanSteps / 16;
  is_answered = !is_poisoned && (gap < kAtOnce || is_pause);
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
  static int first_k = k, calls = 0;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  calls += is_tested && k == first_k;
  Begin<<<1, 1, 0, stream>>>((const half*)c, calls > 6 && calls < kGraphs ? calls : -1);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  End<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
