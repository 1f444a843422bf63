// style: the wmma interface
// shape: 256x256x512
// layout: tn
//
// A warp for each 16 x 16 of C; the f32 sums become half by way of shared memory.
#include <cuda_fp16.h>
#include <mma.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using namespace nvcuda;

__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(32) float staged[16 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(x, a + size_t(blockIdx.y) * 16 * k + i, k);
    wmma::load_matrix_sync(y, b + size_t(blockIdx.x) * 16 * k + i, k);
    wmma::mma_sync(sums, x, y, sums);
  }
  wmma::store_matrix_sync(staged, sums, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    c[size_t(blockIdx.y * 16 + i / 16) * n + blockIdx.x * 16 + i % 16] = __float2half(staged[i]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 16 != 0 || k % 16 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 16, m / 16), 32, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
