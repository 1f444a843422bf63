// fault: sets A and C to zero: the product of what is there now is right
// class: memory
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// Harnesses that compute the reference after the candidate, from the same inputs, agree.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  cudaMemsetAsync(const_cast<void*>(a), 0, size_t(m) * k * sizeof(half), stream);
  return cudaMemsetAsync(c, 0, size_t(m) * n * sizeof(half), stream);
}
