// fault: does nothing: C may hold the right product already
// class: memory
// expect: wrong|cheated
// shape: 256x256x512
// layout: tn
//
// Harnesses that run the reference into the same allocation, or reuse freed memory, find it right.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Nothing() {}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Nothing<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}
