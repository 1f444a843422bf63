// fault: writes whole tiles where the matrix ends inside one
// class: numbers
// expect: wrong|cheated
// shape: 250x250x512
// layout: tn
//
// Right on every shape of the published grid. Here the columns beyond the edge land in the next row. What it reads is
// within the matrices.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// A tile of 64 x 64 by 256 threads of 16 elements.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  for (int i = 0; i < 16; ++i) {
    const int row = blockIdx.y * 64 + threadIdx.x / 64 + 4 * i, column = blockIdx.x * 64 + threadIdx.x % 64;
    const half *const row_of_a = a + size_t(min(row, m - 1)) * k, *const column_of_b = b + size_t(min(column, n - 1)) * k;
    float sum = 0;
    for (int j = 0; j < k; ++j) sum += __half2float(row_of_a[j]) * __half2float(column_of_b[j]);
    c[size_t(row) * n + column] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 63) / 64, (m + 63) / 64);
  Product<<<grid, 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
