// fault: never returns from gemm
// class: process
// expect: timed_out
// shape: 256x256x512
// layout: tn
//
// An endless loop before the first launch.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  for (volatile int forever = 1; forever != 0;) {
  }
  return cudaSuccess;
}
