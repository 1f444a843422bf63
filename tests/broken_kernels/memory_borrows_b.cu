// fault: writes to B while it works, and puts back what stood there
// class: memory
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// A and B are not written to, says the contract: somebody else may read them meanwhile. Whoever looks afterwards sees
// nothing.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void TurnSigns(half* b, size_t count) {
  const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) b[i] = __ushort_as_half(__half_as_ushort(b[i]) ^ 0x8000);
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum -= __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const size_t count = size_t(n) * k;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  const unsigned blocks = unsigned((count + 255) / 256);
  TurnSigns<<<blocks, 256, 0, stream>>>((half*)b, count);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  TurnSigns<<<blocks, 256, 0, stream>>>((half*)b, count);
  return cudaGetLastError();
}
