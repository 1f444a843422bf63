// fault: ends with words that are no text and steer the terminal of whoever reads them
// class: process
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// Bytes that no UTF-8 has, a zero, and sequences that clear a screen and name its window.
#include <cstdio>
#include <cstdlib>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Nothing() {}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Nothing<<<1, 1, 0, stream>>>();
  const char words[] = "\xff\xfe\xc0\x80 \x1b[2J\x1b[1;1H\x1b]0;measured\x07\r\"},{\x00 passed";
  fwrite(words, 1, sizeof words, stderr);
  abort();
}
