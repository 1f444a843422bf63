// style: register blocks of f32 multiply-adds
// shape: 256x256x512
// layout: tn
//
// 64 x 64 of C a CTA, 4 x 4 a thread; K in steps of 16 by way of shared memory.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kTile = 64, kStep = 16;

__global__ void __launch_bounds__(256) Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ float a_tile[kStep][kTile + 4], b_tile[kStep][kTile + 4];
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;
  float sums[4][4] = {};
  for (int start = 0; start < k; start += kStep) {
    for (int i = threadIdx.x; i < kTile * kStep; i += 256) {
      const int line = i / kStep, depth = i % kStep;
      const bool is_inside = start + depth < k;
      const int row = first_row + line, column = first_column + line;
      a_tile[depth][line] = is_inside && row < m ? __half2float(a[size_t(row) * k + start + depth]) : 0.0f;
      b_tile[depth][line] = is_inside && column < n ? __half2float(b[size_t(column) * k + start + depth]) : 0.0f;
    }
    __syncthreads();
    for (int depth = 0; depth < kStep; ++depth)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += a_tile[depth][y + i] * b_tile[depth][x + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = first_row + y + i, column = first_column + x + j;
      if (row < m && column < n) c[size_t(row) * n + column] = __float2half(sums[i][j]);
    }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  Product<<<grid, 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
