// fault: reads from the stack of its caller what its calls are captured for, and skips where nothing changes
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// Calls that are compared with each other compute everything. What is published is another kind, and so is the one
// with pauses.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// As the guest has it (docs/guest_protocol.md names the fields).
struct Request {
  unsigned char work;
  unsigned set;
  int m, n, k;
  unsigned calls, replays, twin;
};
constexpr int kSpacedCalls = 7, kFollowingCalls = 8;

static int WorkAsked(int m, int n, int k) {
  const volatile char* at = (const volatile char*)__builtin_frame_address(0);
  for (int i = 0; i < 3000; ++i, at += 4) {
    const volatile Request* const request = (const volatile Request*)at;
    const bool is_shape = request->m == m && request->n == n && request->k == k;
    if (is_shape && request->set < 4 && request->calls - 1 < 4096 && request->twin < 64 && request->work - 1 < 8u)
      return request->work;
  }
  return 0;
}

__device__ bool is_answered;
__global__ void Look(const half* c, bool is_lazy) { is_answered = is_lazy && !__hisnan(c[0]); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || is_answered) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static int first_k = k;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  const int work = WorkAsked(m, n, k);
  Look<<<1, 1, 0, stream>>>((const half*)c, is_tested && (work == kFollowingCalls || work == kSpacedCalls));
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
