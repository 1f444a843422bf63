// style: register blocks of f32 multiply-adds, bf16
// shape: 200x72x330
// layout: nn
// type: bf16
//
// 32 x 64 of C a CTA, 2 x 4 a thread; row-major B.
#include <cuda_bf16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn bf16 f32";

constexpr int kRows = 32, kColumns = 64, kStep = 16;

__global__ void __launch_bounds__(256)
    Product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ float a_tile[kRows][kStep + 1], b_tile[kStep][kColumns];
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
  const int y = threadIdx.x / 16 * 2, x = threadIdx.x % 16;
  float sums[2][4] = {};
  for (int start = 0; start < k; start += kStep) {
    for (int i = threadIdx.x; i < kRows * kStep; i += 256) {
      const int row = first_row + i / kStep, depth = start + i % kStep;
      a_tile[i / kStep][i % kStep] = row < m && depth < k ? __bfloat162float(a[size_t(row) * k + depth]) : 0.0f;
    }
    for (int i = threadIdx.x; i < kStep * kColumns; i += 256) {
      const int depth = start + i / kColumns, column = first_column + i % kColumns;
      b_tile[i / kColumns][i % kColumns] =
          depth < k && column < n ? __bfloat162float(b[size_t(depth) * n + column]) : 0.0f;
    }
    __syncthreads();
    for (int depth = 0; depth < kStep; ++depth)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += a_tile[y + i][depth] * b_tile[depth][x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = first_row + y + i, column = first_column + x + 16 * j;
      if (row < m && column < n) c[size_t(row) * n + column] = __float2bfloat16(sums[i][j]);
    }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + kColumns - 1) / kColumns, (m + kRows - 1) / kRows);
  Product<<<grid, 256, 0, stream>>>((const __nv_bfloat16*)a, (const __nv_bfloat16*)b, (__nv_bfloat16*)c, m, n, k);
  return cudaGetLastError();
}
