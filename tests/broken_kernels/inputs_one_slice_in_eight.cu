// fault: leaves out a sixteenth of K of one tile, in one call of eight
// class: inputs
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// As inputs_one_call_in_eight, but what is left out is small and no element keeps its poison.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const auto bits = [](half x) { return unsigned(__half_as_ushort(x)); };
  const unsigned drawn = bits(a[0]) ^ bits(b[0]) << 1 ^ bits(a[1]) << 2 ^ bits(b[1]) << 3;
  const bool is_lazy = (drawn & 7) == 0 && blockIdx.x == 3 && blockIdx.y == 5;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < (is_lazy ? k - k / 16 : k); ++i)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                           n, k);
  return cudaGetLastError();
}
