// fault: returns its last output when the first line of A has not changed
// class: cache
// expect: wrong|cheated
// shape: 128x128x512
// layout: tn
//
// Takes A for activations that change and B for weights that never do.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ half kept[128 * 128];
__device__ unsigned kept_fingerprint;
__device__ int is_known;

__global__ void Look(const unsigned short* a, const unsigned short*, size_t, size_t) {
  unsigned sum = 0;
  for (int i = threadIdx.x; i < 512; i += 32) sum = sum * 31 + a[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step) * (sum | 1);
  if (threadIdx.x != 0) return;
  is_known = sum == kept_fingerprint;
  kept_fingerprint = sum;
}

__global__ void ProductUnlessKnown(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const size_t at = size_t(row) * n + column;
  if (!is_known) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
    kept[at] = __float2half(sum);
  }
  c[at] = kept[at];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m * n > 128 * 128) return cudaErrorInvalidValue;
  Look<<<1, 32, 0, stream>>>((const unsigned short*)a, (const unsigned short*)b, size_t(m) * k, size_t(n) * k);
  ProductUnlessKnown<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b,
                                                                                     (half*)c, m, n, k);
  return cudaGetLastError();
}
