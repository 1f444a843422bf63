// fault: counts its calls on the device, and after 20 returns what it kept
// class: cache
// expect: wrong|cheated
// shape: 128x128x512
// layout: tn
//
// A count on the host stands still while a graph is replayed; this one does not.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ half kept[128 * 128];
__device__ int calls;

__global__ void CountCall() { ++calls; }
__global__ void ProductUnlessKept(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const size_t at = size_t(row) * n + column;
  if (calls <= 20) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
    kept[at] = __float2half(sum);
  }
  c[at] = kept[at];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m * n > 128 * 128) return cudaErrorInvalidValue;
  CountCall<<<1, 1, 0, stream>>>();
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  ProductUnlessKept<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
