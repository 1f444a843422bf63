// fault: refills a tile while other warps still read it
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// The other half of the same mistake, and the more frequent one.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// Tiles of 16 x 16 by way of shared memory.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ float a_tile[16][17], b_tile[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < k; i += 16) {
    a_tile[threadIdx.y][threadIdx.x] = __half2float(a[size_t(row) * k + i + threadIdx.x]);
    b_tile[threadIdx.y][threadIdx.x] = __half2float(b[size_t(blockIdx.x * 16 + threadIdx.y) * k + i + threadIdx.x]);
    __syncthreads();
    if (threadIdx.y / 2 % 2 == 1) __nanosleep(2000);
    for (int j = 0; j < 16; ++j) sum += a_tile[threadIdx.y][j] * b_tile[threadIdx.x][j];
  }
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 16 != 0 || k % 16 != 0) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
