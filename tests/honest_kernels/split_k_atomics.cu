// style: split K, f32 atomics in the workspace, a second kernel converts and clears
// shape: 256x256x512
// layout: tn
//
// The order of the additions differs from call to call, and with it the last bits: allowed.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// One of the splits of K: split z has the products z, z + splits, ...
__device__ float PartOfSum(const half* a, const half* b, int row, int column, int k) {
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  return sum;
}

__global__ void AddPart(const half* a, const half* b, float* sums, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < m && column < n) atomicAdd(sums + size_t(row) * n + column, PartOfSum(a, b, row, column, k));
}
__global__ void ConvertAndClear(float* sums, half* c, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  c[i] = __float2half(sums[i]);
  sums[i] = 0;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (size_t(m) * n * sizeof(float) > workspace_bytes) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16, 4);
  AddPart<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (float*)workspace, m, n, k);
  ConvertAndClear<<<(m * n + 255) / 256, 256, 0, stream>>>((float*)workspace, (half*)c, m * n);
  return cudaGetLastError();
}
