// fault: its kernel traps
// class: process
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// The context is lost; the next candidate must not notice.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Trap() { __trap(); }

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Trap<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
