// fault: calls itself until the stack is full
// class: process
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// The crash leaves no stack for a handler to run on.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

static int Deeper(volatile int* depth) {
  volatile int here[1024] = {};
  here[0] = ++*depth;
  return Deeper(here) + here[0];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  volatile int depth = 0;
  return Deeper(&depth) == 0 ? cudaSuccess : cudaErrorUnknown;
}
