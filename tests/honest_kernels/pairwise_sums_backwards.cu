// style: sums K from its end, halves before wholes
// shape: 120x136x777
// layout: tn
//
// Its parts lie in local memory.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// The last of the products first; parts of 8 are added one by one, larger ones as the sum of two halves.
__device__ float SumOf(const half* x, const half* y, int count) {
  float parts[32];
  int depth = 0;
  unsigned blocks = 0;
  for (int left = count; left > 0; left -= 8) {
    float part = 0;
    for (int i = left - 1; i >= max(left - 8, 0); --i) part += __half2float(x[i]) * __half2float(y[i]);
    // As a binary counter carries.
    for (unsigned carry = blocks; (carry & 1) != 0; carry >>= 1) part += parts[--depth];
    parts[depth++] = part;
    ++blocks;
  }
  float sum = 0;
  while (depth > 0) sum += parts[--depth];
  return sum;
}

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  c[size_t(row) * n + column] = __float2half(SumOf(a + size_t(row) * k, b + size_t(column) * k, k));
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
