// fault: the launch fails for want of shared memory, and nobody is told
// class: memory
// expect: wrong|launch_failed
// shape: 256x256x512
// layout: tn
//
// One published kernel was "fast" because it never ran: the error was swallowed and the old output stood.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ half staged[];
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < k; i += 256) staged[i] = a[size_t(row) * k + i];
  __syncthreads();
  for (int column = threadIdx.x; column < n; column += 256) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(staged[i]) * __half2float(b[size_t(column) * k + i]);
    c[size_t(row) * n + column] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<m, 256, 300 << 10, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  cudaGetLastError();
  return cudaSuccess;
}
