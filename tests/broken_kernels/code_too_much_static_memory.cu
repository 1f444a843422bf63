// fault: declares more shared memory than a CTA can have
// class: code
// expect: compile_failed|resource_over
// shape: 256x256x512
// layout: tn
//
// The assembler refuses it; nothing must be launched.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ float staged[65536];
  for (int i = threadIdx.x; i < k; i += 256) staged[i] = __half2float(a[size_t(blockIdx.x) * k + i]);
  __syncthreads();
  for (int column = threadIdx.x; column < n; column += 256) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += staged[i] * __half2float(b[size_t(column) * k + i]);
    c[size_t(blockIdx.x) * n + column] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<m, 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
