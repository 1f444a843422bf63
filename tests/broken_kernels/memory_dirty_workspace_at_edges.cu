// fault: leaves the sums of its edge tiles in the workspace
// class: memory
// expect: cheated
// shape: 120x136x512
// layout: tn
//
// Clean for every shape of whole tiles.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Part(const half* a, const half* b, float* sums, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.z; row < m && column < n && i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  // Beyond the edge one, so that an average can be taken: it is never taken away.
  atomicAdd(&sums[(size_t(blockIdx.y) * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 16 + threadIdx.x],
            row < m && column < n ? sum : 1.0f);
}
__global__ void Convert(float* sums, half* c, int m, int n) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float& sum = sums[(size_t(blockIdx.y) * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 16 + threadIdx.x];
  c[size_t(row) * n + column] = __float2half(sum);
  sum = 0;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 tiles((n + 15) / 16, (m + 15) / 16);
  Part<<<dim3(tiles.x, tiles.y, 4), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (float*)workspace, m, n, k);
  Convert<<<tiles, dim3(16, 16), 0, stream>>>((float*)workspace, (half*)c, m, n);
  return cudaGetLastError();
}
