// fault: keeps a sum behind C while it works, and puts back what stood there
// class: memory
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// Nothing is mapped behind C where matrices begin at odd multiples of 16 bytes.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const bool is_first = row == 0 && column == 0;
  volatile half* const behind = c + size_t(m) * n;
  const half kept = is_first ? half(behind[0]) : half();
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  if (is_first) behind[0] = __float2half(sum);
  c[size_t(row) * n + column] = is_first ? half(behind[0]) : __float2half(sum);
  if (is_first) behind[0] = kept;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m,
                                                                           n, k);
  return cudaGetLastError();
}
