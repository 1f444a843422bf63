// fault: clears its workspace on the per-thread default stream
// class: timing
// expect: cheated
// shape: 256x256x512
// layout: tn
//
// Work that no clock of the stream sees, and that no graph holds.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Part(const half* a, const half* b, float* sums, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  atomicAdd(&sums[size_t(row) * n + column], sum);
}
__global__ void Convert(const float* sums, half* c, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) c[i] = __float2half(sums[i]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  float* const sums = (float*)workspace;
  Part<<<dim3((n + 15) / 16, (m + 15) / 16, 4), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, sums, m, n, k);
  Convert<<<(m * n + 255) / 256, 256, 0, stream>>>(sums, (half*)c, m * n);
  return cudaMemsetAsync(sums, 0, size_t(m) * n * sizeof(float), cudaStreamPerThread);
}
