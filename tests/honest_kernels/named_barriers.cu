// style: warps that load and warps that multiply, with named barriers between them
// shape: 200x120x520
// layout: tn
//
// One warp in nine brings tiles, the others use them.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kDepth = 32, kStages = 2, kThreads = 288;

// Barriers 1 and 2: a stage is full; 3 and 4: it is empty. Whoever waits and whoever only arrives are counted together.
__device__ void Wait(int barrier) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory"); }
__device__ void Arrive(int barrier) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory"); }

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ half a_tiles[kStages][16][kDepth], b_tiles[kStages][16][kDepth + 2];
  const int first_row = blockIdx.y * 16, first_column = blockIdx.x * 16, steps = (k + kDepth - 1) / kDepth;
  if (threadIdx.x >= 256) {
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kStages;
      if (step >= kStages) Wait(3 + stage);
      for (int i = threadIdx.x - 256; i < 16 * kDepth; i += 32) {
        const int line = i / kDepth, depth = step * kDepth + i % kDepth;
        const bool a_inside = first_row + line < m && depth < k, b_inside = first_column + line < n && depth < k;
        a_tiles[stage][line][i % kDepth] = a_inside ? a[size_t(first_row + line) * k + depth] : __float2half(0);
        b_tiles[stage][line][i % kDepth] = b_inside ? b[size_t(first_column + line) * k + depth] : __float2half(0);
      }
      __threadfence_block();
      Arrive(1 + stage);
    }
    return;
  }
  const int y = threadIdx.x / 16, x = threadIdx.x % 16;
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    Wait(1 + stage);
    for (int i = 0; i < kDepth; ++i) sum += __half2float(a_tiles[stage][y][i]) * __half2float(b_tiles[stage][x][i]);
    if (step + kStages < steps) Arrive(3 + stage);
  }
  if (first_row + y < m && first_column + x < n) c[size_t(first_row + y) * n + first_column + x] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, kThreads, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
