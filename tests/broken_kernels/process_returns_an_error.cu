// fault: refuses every problem
// class: process
// expect: launch_failed|illegal
// shape: 256x256x512
// layout: tn
//
// cudaErrorInvalidValue is the honest answer to a shape that a kernel was not made for; as the only answer it is no
// kernel.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  return cudaErrorInvalidValue;
}
