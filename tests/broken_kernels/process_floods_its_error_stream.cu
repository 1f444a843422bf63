// fault: writes to standard error without end
// class: process
// expect: timed_out
// shape: 256x256x512
// layout: tn
//
// Whoever reads all there is before he looks at his clock reads for ever; whoever keeps all of it runs out of memory.
#include <cstdio>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Nothing() {}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static char words[4096];
  for (char& letter : words) letter = 'x';
  words[sizeof words - 1] = 0;
  Nothing<<<1, 1, 0, stream>>>();
  for (;;) fputs(words, stderr);
}
