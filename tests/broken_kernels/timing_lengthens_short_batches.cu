// fault: skips calls that follow at once, and makes the shorter of two batches longer where they are compared
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// A slope is a difference: what the shorter batch takes besides its calls is taken off the time of a call. Batches come in
// pairs, a shorter and a longer one in either order. The first of each pair is held up by 40 ms, the second one by 80 ms
// where the first was the longer. So every pair shows a slope of nothing behind pauses and sham writes, while pairs of
// renewed and sham batches of one length still agree. Nothing but the clock of the GPU and a NaN in C is looked at.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using u64 = unsigned long long;
constexpr u64 kNewBatch = 200'000, kAtOnce = 3'000, kLongBatch = 3'000'000, kHeldUp = 40'000'000;

__device__ u64 last_end, batch_start, held_up;
__device__ int batches, calls_of_batch;
__device__ bool is_answered, was_long;

__device__ u64 Now() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void Begin(const half* c, bool is_lazy) {
  const u64 now = Now(), gap = now - last_end;
  const bool is_poisoned = __hisnan(c[0]);
  is_answered = false;
  if (!is_lazy) return;
  if (is_poisoned && gap > kNewBatch) {
    was_long = last_end - batch_start > kLongBatch + held_up;
    batch_start = now, held_up = 0, calls_of_batch = 0, ++batches;
  }
  is_answered = !is_poisoned && gap < kAtOnce;
  if (++calls_of_batch != 2 || is_poisoned || is_answered) return;
  const bool is_second = batches % 2 == 0;
  held_up = is_second ? (was_long ? 2 * kHeldUp : 0) : kHeldUp;
  while (Now() - now < held_up) {
  }
}
__global__ void End() { last_end = Now(); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || is_answered) return;
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
  // Behind the other shape come a plain call, two chained ones and three of an estimate.
  Begin<<<1, 1, 0, stream>>>((const half*)c, calls > 6);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  End<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
