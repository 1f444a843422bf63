// style: keeps a hundred sums of each thread in local memory
// shape: 160x160x512
// layout: tn
//
// An array whose places are computed: the compiler has no registers for it, and its bytes lie where those of the last
// launch lay.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kSide = 10;

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  volatile float sums[kSide * kSide];
  const int first_row = (blockIdx.y * 8 + threadIdx.y) * kSide, first_column = (blockIdx.x * 8 + threadIdx.x) * kSide;
  for (int i = 0; i < kSide * kSide; ++i) sums[i] = 0;
  const int rows = min(kSide, m - first_row), columns = min(kSide, n - first_column);
  for (int depth = 0; depth < k; ++depth)
    for (int row = 0; row < rows; ++row) {
      const float of_a = __half2float(a[size_t(first_row + row) * k + depth]);
      for (int column = 0; column < columns; ++column) {
        const int at = row * kSide + column;
        sums[at] = sums[at] + of_a * __half2float(b[size_t(first_column + column) * k + depth]);
      }
    }
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      c[size_t(first_row + row) * n + first_column + column] = __float2half(sums[row * kSide + column]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  constexpr int kCta = 8 * kSide;
  const dim3 grid((n + kCta - 1) / kCta, (m + kCta - 1) / kCta);
  Product<<<grid, dim3(8, 8), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
