// style: transposes B into the workspace in every call, and clears it
// shape: 256x256x512
// layout: nn
//
// Preprocessing inside the timed call is honest, however unwise.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn f16 f32";

__global__ void Transpose(const half* b, half* columns, int n, int k) {
  __shared__ half tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x, depth = blockIdx.y * 32 + threadIdx.y;
  if (column < n && depth < k) tile[threadIdx.y][threadIdx.x] = b[size_t(depth) * n + column];
  __syncthreads();
  const int to_column = blockIdx.x * 32 + threadIdx.y, to_depth = blockIdx.y * 32 + threadIdx.x;
  if (to_column < n && to_depth < k) columns[size_t(to_column) * k + to_depth] = tile[threadIdx.x][threadIdx.y];
}
__global__ void Product(const half* a, const half* columns, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(columns[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const size_t bytes = size_t(n) * k * sizeof(half);
  if (bytes > workspace_bytes) return cudaErrorInvalidValue;
  Transpose<<<dim3((n + 31) / 32, (k + 31) / 32), dim3(32, 32), 0, stream>>>((const half*)b, (half*)workspace, n, k);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)workspace, (half*)c, m, n, k);
  return cudaMemsetAsync(workspace, 0, bytes, stream);
}
