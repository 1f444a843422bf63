// fault: reads whole tiles of lines where A and B end inside one
// class: memory
// expect: launch_failed
// shape: 100x130x512
// layout: tn
//
// What it reads there goes into elements that are never stored, so no number shows it. At the end of an allocation it is a
// fault.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kTile = 64, kDepth = 16;

// 64 x 64 of C a CTA, 4 x 4 a thread.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ float x[kTile][kDepth + 1], y[kTile][kDepth + 1];
  const int thread = threadIdx.x, down = thread / 16 * 4, across = thread % 16 * 4;
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  float sums[4][4] = {};
  for (int i = 0; i < k; i += kDepth) {
    for (int at = thread; at < kTile * kDepth; at += 256) {
      const int line = at / kDepth, depth = at % kDepth;
      x[line][depth] = __half2float(a[size_t(row + line) * k + i + depth]);
      y[line][depth] = __half2float(b[size_t(column + line) * k + i + depth]);
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sums[r][s] += x[down + r][d] * y[across + s][d];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      if (row + down + r < m && column + across + s < n)
        c[size_t(row + down + r) * n + column + across + s] = __float2half(sums[r][s]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (k % kDepth != 0) return cudaErrorInvalidValue;
  Product<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), 256, 0, stream>>>((const half*)a, (const half*)b,
                                                                                      (half*)c, m, n, k);
  return cudaGetLastError();
}
