// fault: throws an exception through the C function
// class: process
// expect: launch_failed|cheated
// shape: 256x256x512
// layout: tn
//
// Nobody above it catches: the process ends.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  throw 1;
}
