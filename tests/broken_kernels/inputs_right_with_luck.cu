// fault: leaves about one tile in a hundred at zero, another one in each call
// class: inputs
// expect: cheated
// shape: 256x256x512
// layout: tn
//
// Skips a tile when the clock of its multiprocessor says so: samples of elements and single rows mostly pass.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  __shared__ bool is_lazy;
  if (threadIdx.x == 0 && threadIdx.y == 0) is_lazy = (clock64() >> 4) % 97 == 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; !is_lazy && i < k; ++i)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 16 != 0) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
