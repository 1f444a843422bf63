// fault: adds to sums in shared memory that nobody set to zero
// class: numbers
// expect: wrong
// shape: 1024x256x512
// layout: tn
//
// Right as long as no kernel has used that memory before: in the first call, perhaps.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// A row of C a CTA; the sums are in shared memory.
__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  extern __shared__ float sums[];
  const half* line = a + size_t(blockIdx.x) * k;
  for (int column = threadIdx.x; column < n; column += 128) {
    for (int i = 0; i < k; ++i) sums[column] += __half2float(line[i]) * __half2float(b[size_t(column) * k + i]);
    c[size_t(blockIdx.x) * n + column] = __float2half(sums[column]);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (n > 8192) return cudaErrorInvalidValue;
  Product<<<m, 128, n * sizeof(float), stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
