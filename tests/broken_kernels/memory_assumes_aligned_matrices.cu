// fault: takes its matrices to begin at multiples of 1,024 bytes
// class: memory
// expect: wrong|launch_failed
// shape: 256x256x512
// layout: tn
//
// Places in a line are put into the low bits of its address. The contract promises 16 bytes; whoever hands over what an
// allocator returns never notices, whoever hands over a part of a matrix does.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kLineBytes = 1024;

__device__ float At(size_t line, int i) { return __half2float(*(const half*)(line | size_t(i) * 2)); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const size_t line_of_a = size_t(a) + size_t(row) * kLineBytes, line_of_b = size_t(b) + size_t(column) * kLineBytes;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += At(line_of_a, i) * At(line_of_b, i);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (k * 2 != kLineBytes) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
