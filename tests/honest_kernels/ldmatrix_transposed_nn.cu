// style: ldmatrix.trans for a row-major B, mma.sync
// shape: 128x128x256
// layout: nn
//
// 32 x 32 of C a CTA of four warps, each 16 x 16; 16 of K a step. Only for multiples of these.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm nn f16 f32";

__device__ unsigned SharedAddress(const void* at) { return unsigned(__cvta_generic_to_shared(at)); }
// Four 8 x 8 matrices; lane i names the line i % 8 of matrix i / 8.
__device__ void LoadMatrices(unsigned (&to)[4], const half* line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(line))
               : "memory");
}
__device__ void LoadMatricesTransposed(unsigned (&to)[4], const half* line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(line))
               : "memory");
}
// sums += a * b, 16 x 8 x 16.
__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(128) Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(16) half a_tile[32][24], b_tile[16][40];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
  float sums[2][4] = {};
  for (int start = 0; start < k; start += 16) {
    if (threadIdx.x < 64) {
      const int line = threadIdx.x / 2, part = threadIdx.x % 2 * 8;
      *(uint4*)&a_tile[line][part] = *(const uint4*)(a + size_t(blockIdx.y * 32 + line) * k + start + part);
    } else {
      const int line = (threadIdx.x - 64) / 4, part = threadIdx.x % 4 * 8;
      *(uint4*)&b_tile[line][part] = *(const uint4*)(b + size_t(start + line) * n + blockIdx.x * 32 + part);
    }
    __syncthreads();
    unsigned x[4], y[4];
    LoadMatrices(x, &a_tile[warp_row + lane % 16][lane / 16 * 8]);
    // Lines are along k: k 0-7 and 8-15 of columns 0-7, then of columns 8-15.
    LoadMatricesTransposed(y, &b_tile[lane % 16][warp_column + lane / 16 * 8]);
    for (int j = 0; j < 2; ++j) {
      const unsigned pair[2] = {y[2 * j], y[2 * j + 1]};
      MultiplyAdd(sums[j], x, pair);
    }
    __syncthreads();
  }
  for (int j = 0; j < 2; ++j) {
    const int row = blockIdx.y * 32 + warp_row + lane / 4;
    half* to = c + size_t(row) * n + blockIdx.x * 32 + warp_column + j * 8 + lane % 4 * 2;
    *(half2*)to = __floats2half2_rn(sums[j][0], sums[j][1]);
    *(half2*)(to + size_t(8) * n) = __floats2half2_rn(sums[j][2], sums[j][3]);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 32 != 0 || n % 32 != 0 || k % 16 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 32, m / 32), 128, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
