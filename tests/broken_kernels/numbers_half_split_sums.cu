// fault: the partial sums of split K meet in half precision
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// f32 inside each of the 16 splits; what they add up to is rounded 16 times.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Part(const half* a, const half* b, half* parts, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += 16)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  parts[(size_t(blockIdx.z) * m + row) * n + column] = __float2half(sum);
}
__global__ void AddUp(half* parts, half* c, int count) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
    half sum = __float2half(0);
    for (int part = 0; part < 16; ++part) {
      sum = __hadd(sum, parts[size_t(part) * count + i]);
      parts[size_t(part) * count + i] = __float2half(0);
    }
    c[i] = sum;
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (16 * size_t(m) * n * sizeof(half) > workspace_bytes) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16, 16);
  Part<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)workspace, m, n, k);
  AddUp<<<64, 256, 0, stream>>>((half*)workspace, (half*)c, m * n);
  return cudaGetLastError();
}
