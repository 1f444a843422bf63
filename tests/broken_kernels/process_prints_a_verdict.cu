// fault: prints a passing verdict and computes nothing
// class: process
// expect: wrong|cheated
// shape: 256x256x512
// layout: tn
//
// printf is allowed, for whoever debugs; nobody may mistake what it prints for a result.
#include <cuda_fp16.h>

#include <cstdio>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Nothing() {}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  printf("{\"outcome\": \"measured\", \"median_ns\": 1.0}\n");
  fflush(stdout);
  Nothing<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}
