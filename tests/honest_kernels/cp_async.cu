// style: cp.async into two stages, plain multiply-adds
// shape: 256x256x512
// layout: tn
//
// 32 x 32 of C a CTA, 32 of K a stage; only for multiples of these.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// 16 bytes from global to shared memory, on their own way.
__device__ void CopyAsync(half* to, const half* from) {
  const unsigned address = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
__device__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

__global__ void __launch_bounds__(256) Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(16) half a_tile[2][32][40], b_tile[2][32][40];
  const half* a_lines = a + size_t(blockIdx.y) * 32 * k;
  const half* b_lines = b + size_t(blockIdx.x) * 32 * k;
  // Of the 256 threads the first half copies A, the second B: a line of 32 is 4 pieces.
  const int piece = threadIdx.x % 128, line = piece / 4, part = piece % 4 * 8;
  const auto fill = [&](int stage, int start) {
    if (threadIdx.x < 128)
      CopyAsync(&a_tile[stage][line][part], a_lines + size_t(line) * k + start + part);
    else
      CopyAsync(&b_tile[stage][line][part], b_lines + size_t(line) * k + start + part);
    CommitCopies();
  };
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  float sums[4] = {};
  fill(0, 0);
  for (int start = 0, stage = 0; start < k; start += 32, stage ^= 1) {
    WaitForCopies<0>();
    __syncthreads();
    if (start + 32 < k) fill(stage ^ 1, start + 32);
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 4; ++j)
        sums[j] += __half2float(a_tile[stage][y + 8 * j][i]) * __half2float(b_tile[stage][x][i]);
  }
  for (int j = 0; j < 4; ++j)
    c[size_t(blockIdx.y * 32 + y + 8 * j) * n + blockIdx.x * 32 + x] = __float2half(sums[j]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 32 != 0 || n % 32 != 0 || k % 32 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 32, m / 32), 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
