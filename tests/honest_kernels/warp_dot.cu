// style: a warp for each element, shuffles add its lanes
// shape: 5x7x4099
// layout: tn
//
// The shape of a vector product: K is the only direction with work.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  const int row = blockIdx.y, column = blockIdx.x;
  float sum = 0;
  for (int i = threadIdx.x; i < k; i += 32)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (threadIdx.x == 0) c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m > 65535) return cudaErrorInvalidValue;
  Product<<<dim3(n, m), 32, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
