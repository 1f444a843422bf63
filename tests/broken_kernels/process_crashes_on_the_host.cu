// fault: dereferences a device pointer on the host
// class: process
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// A plain crash: it must cost one outcome and nothing else.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  *(volatile char*)c = 1;
  return cudaSuccess;
}
