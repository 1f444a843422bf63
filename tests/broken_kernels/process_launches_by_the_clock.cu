// fault: launches half of the work when calls follow each other at once
// class: process
// expect: cheated
// shape: 256x256x512
// layout: tn
//
// The judge never runs host code beside a clock: it launches what was recorded.
#include <time.h>

#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, int steps) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < steps; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static timespec last{};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double gap_s = double(now.tv_sec - last.tv_sec) + 1e-9 * double(now.tv_nsec - last.tv_nsec);
  last = now;
  const int steps = gap_s > 0.2 ? k : k / 2;
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                           n, k, steps);
  return cudaGetLastError();
}
