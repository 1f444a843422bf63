// style: templates, one of three instances chosen by the shape
// shape: 33x500x129
// layout: tn
//
// Kernels that a shape does not choose are never launched: honest dispatch, no decoys.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// kRows x kColumns of C a thread.
template <int kRows, int kColumns>
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int first_row = (blockIdx.y * 8 + threadIdx.y) * kRows;
  const int first_column = (blockIdx.x * 16 + threadIdx.x) * kColumns;
  float sums[kRows][kColumns] = {};
  for (int depth = 0; depth < k; ++depth) {
    float x[kRows], y[kColumns];
    for (int i = 0; i < kRows; ++i)
      x[i] = first_row + i < m ? __half2float(a[size_t(first_row + i) * k + depth]) : 0.0f;
    for (int j = 0; j < kColumns; ++j)
      y[j] = first_column + j < n ? __half2float(b[size_t(first_column + j) * k + depth]) : 0.0f;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) sums[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      if (first_row + i < m && first_column + j < n)
        c[size_t(first_row + i) * n + first_column + j] = __float2half(sums[i][j]);
}

template <int kRows, int kColumns>
cudaError_t Launch(const void* a, const void* b, void* c, int m, int n, int k, cudaStream_t stream) {
  const dim3 grid((n + 16 * kColumns - 1) / (16 * kColumns), (m + 8 * kRows - 1) / (8 * kRows));
  Product<kRows, kColumns>
      <<<grid, dim3(16, 8), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (size_t(m) * n <= 4096) return Launch<1, 1>(a, b, c, m, n, k, stream);
  if (m <= 64) return Launch<2, 4>(a, b, c, m, n, k, stream);
  return Launch<4, 4>(a, b, c, m, n, k, stream);
}
