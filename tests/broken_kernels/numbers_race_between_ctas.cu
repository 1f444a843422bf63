// fault: eight CTAs add to the same sums without atomics
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// Some additions are lost, other ones in every call.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// Sums of an eighth of K meet in the workspace.
__global__ void AddPart(const half* a, const half* b, float* sums, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += 8)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  sums[size_t(row) * n + column] += sum;
}
__global__ void ConvertAndClear(float* sums, half* c, int count) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
    c[i] = __float2half(sums[i]);
    sums[i] = 0;
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (size_t(m) * n * sizeof(float) > workspace_bytes) return cudaErrorInvalidValue;
  AddPart<<<dim3((n + 15) / 16, (m + 15) / 16, 8), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b,
                                                                             (float*)workspace, m, n, k);
  ConvertAndClear<<<64, 256, 0, stream>>>((float*)workspace, (half*)c, m * n);
  return cudaGetLastError();
}
