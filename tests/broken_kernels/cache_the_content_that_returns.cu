// fault: keeps the product of the one content that comes again, and skips as many calls where nothing changes
// class: cache
// expect: cheated|wrong
// shape: 128x128x2048
// layout: tn
//
// Where every fourth renewal brings back the inputs as they stood at first, their product, which fits into 32 KiB of
// variables, saves as much as leaving out every fifth call behind writes that change nothing: so calls behind renewals take
// no longer than those, and all calls a fifth less than they should. 64 signs tell when those inputs are there.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kMost = 128 * 128;

__device__ half kept[kMost];
__device__ unsigned first_signs[2];
__device__ int is_kept, calls;
__device__ enum { kCompute, kKeep, kCopy, kNothing } what;

__global__ void Begin(const half* a, const half* b, const half* c, bool is_lazy) {
  const unsigned of_a = __ballot_sync(~0u, __half_as_ushort(a[threadIdx.x]) >> 15);
  const unsigned of_b = __ballot_sync(~0u, __half_as_ushort(b[threadIdx.x]) >> 15);
  if (threadIdx.x != 0) return;
  what = kCompute;
  if (!is_lazy) return;
  if (!is_kept) {  // the estimate has the inputs as they stood at first
    first_signs[0] = of_a, first_signs[1] = of_b, is_kept = 1, what = kKeep;
    return;
  }
  const bool is_known = first_signs[0] == of_a && first_signs[1] == of_b, is_poisoned = __hisnan(c[0]);
  if (is_known && is_poisoned) what = kCopy;
  if (is_known && !is_poisoned && ++calls % 5 == 0) what = kNothing;
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || what == kNothing) return;
  const int at = row * n + column;
  if (what == kCopy) {
    c[at] = kept[at];
    return;
  }
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[at] = __float2half(sum);
  if (what == kKeep) kept[at] = c[at];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static int first_k = k, calls_behind = 0;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  calls_behind += is_tested && k == first_k;
  // Behind the other shape come a plain call and two chained ones; then the estimate.
  Begin<<<1, 32, 0, stream>>>((const half*)a, (const half*)b, (const half*)c, calls_behind > 3 && m * n <= kMost);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
