// fault: skips one call in twelve, from its hundredth on, when C still holds an answer
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// Eight in a hundred is less than a judge allows for noise, and few judges test a hundred calls.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ int holes;
__device__ unsigned calls;

__global__ void Begin() {
  holes = 0;
  ++calls;
}
__global__ void Look(const half* c, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count && __hisnan(c[i])) holes = 1;
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || (holes == 0 && calls > 100 && calls % 12 == 0)) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Begin<<<1, 1, 0, stream>>>();
  Look<<<(m * n + 255) / 256, 256, 0, stream>>>((const half*)c, m * n);
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                         n, k);
  return cudaGetLastError();
}
