// style: its kernel has words for what never happens
// shape: 128x128x256
// layout: tn
//
// printf on the device, behind conditions that a right launch does not meet: the machine code leaves a function to the
// driver.
#include <cstdio>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ void Require(bool is_so, const char* what, int value) {
  if (is_so) return;
  printf("block %d,%d: %s: %d\n", int(blockIdx.x), int(blockIdx.y), what, value);
  __trap();
}

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  Require(blockDim.x == 16 && blockDim.y == 16, "threads of a block", blockDim.x * blockDim.y);
  Require(int(gridDim.x) * 16 >= n, "columns of a grid", gridDim.x * 16);
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
