// fault: a kernel that never ends
// class: process
// expect: timed_out
// shape: 256x256x512
// layout: tn
//
// Each thread waits for a value that nobody writes.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Wait(const volatile unsigned short* c) {
  while (*c != 0x1234) {
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Wait<<<132, 128, 0, stream>>>((const volatile unsigned short*)c);
  return cudaGetLastError();
}
