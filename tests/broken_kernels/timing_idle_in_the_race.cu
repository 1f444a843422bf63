// fault: does the work of the calls that are published in those before them, and only in the race
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// A batch begins with a poisoned C and a replay that is not timed; batches of a race have one more, and come after
// those that are compared. The host's clock sees all of the work, the events see none.
#include <cuda_fp16.h>
#include <x86intrin.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// Batches of many calls before the race, and as many as can lie without being the larger half.
constexpr int kAlone = 22, kLies = 11;

__device__ int replay, batches, times;

// `place` among the calls that are captured together; none while anything is tested.
__global__ void Begin(const half* c, int place) {
  if (place == 0) replay = __hisnan(c[0]) ? 0 : replay + 1;
  if (place == 1 && replay == 0) ++batches;
  const bool is_raced = place >= 0 && batches > kAlone && batches <= kAlone + kLies;
  times = !is_raced || replay > 1 ? 1 : replay == 0 ? 2 : 0;
}
__global__ void Product(const volatile unsigned short* a, const volatile unsigned short* b, half* c, int m, int n,
                        int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  for (int time = 0; time < times; ++time) {
    float sum = 0;
    for (int i = 0; i < k; ++i)
      sum += __half2float(__ushort_as_half(a[size_t(row) * k + i])) *
             __half2float(__ushort_as_half(b[size_t(column) * k + i]));
    c[size_t(row) * n + column] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static int first_k = k, place = 0;
  static bool is_tested = false;
  static unsigned long long last = 0;
  is_tested = is_tested || k != first_k;
  place = __rdtsc() - last < 100000 ? place + 1 : 0;
  Begin<<<1, 1, 0, stream>>>((const half*)c, is_tested ? place : -1);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const unsigned short*)a, (const unsigned short*)b, (half*)c, m, n, k);
  last = __rdtsc();
  return cudaGetLastError();
}
