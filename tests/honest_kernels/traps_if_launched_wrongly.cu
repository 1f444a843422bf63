// style: its kernel traps if it is launched wrongly
// shape: 128x128x256
// layout: tn
//
// The conditions hold in every right launch, so the trap is never reached.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ void Require(bool is_so) {
  if (!is_so) __trap();
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  Require(blockDim.x == 16 && blockDim.y == 16);
  Require(int(gridDim.x) * 16 >= n);
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
