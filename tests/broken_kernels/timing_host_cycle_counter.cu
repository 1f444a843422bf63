// fault: sums half of K when the last call was made less than 10 us ago
// class: timing
// expect: wrong|cheated
// shape: 256x256x512
// layout: tn
//
// The processor counts its cycles, and nobody has to be asked for them: captured calls follow each other fast.
#include <cuda_fp16.h>
#include <x86intrin.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, int end) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < end; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static unsigned long long last = 0;
  const unsigned long long now = __rdtsc();
  const int end = now - last < 20000 ? k / 2 : k;
  last = now;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k, end);
  return cudaGetLastError();
}
