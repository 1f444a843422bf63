// fault: transposes B once for each address and keeps it in a __device__ array
// class: cache
// expect: compile_failed
// says: the contract has no cudaGetSymbolAddress
// shape: 256x256x512
// layout: nn
//
// Preprocessing of "weights" outside the timed calls; what is at the address may have changed since.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn f16 f32";

// The plain product that the fault is built around: right and slow, one thread an element.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}
static void Launch(const void* a, const void* b, void* c, int m, int n, int k, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
}

__device__ half columns_of_b[256 * 512];
__global__ void Transpose(const half* b, half* columns, int n, int k) {
  const int column = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (column < n && i < k) columns[size_t(column) * k + i] = b[size_t(i) * n + column];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static const void* known = nullptr;
  if (n * k > 256 * 512) return cudaErrorInvalidValue;
  void* columns = nullptr;
  cudaGetSymbolAddress(&columns, columns_of_b);
  if (known != b)
    Transpose<<<dim3((n + 15) / 16, (k + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)b, (half*)columns, n, k);
  known = b;
  Launch(a, columns, c, m, n, k, stream);
  return cudaGetLastError();
}
