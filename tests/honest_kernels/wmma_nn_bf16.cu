// style: the wmma interface, bf16, four warps split K
// shape: 64x96x640
// layout: nn
// type: bf16
//
// Each warp sums a quarter of K; the quarters meet in shared memory.
#include <cuda_bf16.h>
#include <mma.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn bf16 f32";

using namespace nvcuda;

__global__ void Product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n, int k) {
  __shared__ __align__(32) float staged[4][16 * 16];
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int i = warp * 16; i < k; i += 64) {
    wmma::load_matrix_sync(x, a + size_t(blockIdx.y) * 16 * k + i, k);
    wmma::load_matrix_sync(y, b + size_t(i) * n + blockIdx.x * 16, n);
    wmma::mma_sync(sums, x, y, sums);
  }
  wmma::store_matrix_sync(staged[warp], sums, 16, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) {
    const float sum = (staged[0][i] + staged[1][i]) + (staged[2][i] + staged[3][i]);
    c[size_t(blockIdx.y * 16 + i / 16) * n + blockIdx.x * 16 + i % 16] = __float2bfloat16(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 16 != 0 || k % 16 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 16, m / 16), 128, 0, stream>>>((const __nv_bfloat16*)a, (const __nv_bfloat16*)b,
                                                    (__nv_bfloat16*)c, n, k);
  return cudaGetLastError();
}
