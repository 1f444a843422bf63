// style: mma.sync, bf16, four warps share a row of tiles
// shape: 256x256x512
// layout: tn
// type: bf16
//
// A CTA has 16 x 32 of C; only for multiples of 16 x 32 x 16.
#include <cuda_bf16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn bf16 f32";

// sums += a * b, 16 x 8 x 16.
__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void Product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n, int k) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, pair = lane % 4 * 2;
  const int first_column = blockIdx.x * 32 + warp * 8;
  const __nv_bfloat16* upper = a + size_t(blockIdx.y * 16 + group) * k + pair;
  const __nv_bfloat16* lower = upper + size_t(8) * k;
  const __nv_bfloat16* column = b + size_t(first_column + group) * k + pair;
  const auto load = [](const __nv_bfloat16* from) { return *(const unsigned*)from; };
  float sums[4] = {};
  for (int i = 0; i < k; i += 16) {
    const unsigned x[4] = {load(upper + i), load(lower + i), load(upper + i + 8), load(lower + i + 8)};
    const unsigned y[2] = {load(column + i), load(column + i + 8)};
    MultiplyAdd(sums, x, y);
  }
  __nv_bfloat16* to = c + size_t(blockIdx.y * 16 + group) * n + first_column + pair;
  *(__nv_bfloat162*)to = __floats2bfloat162_rn(sums[0], sums[1]);
  *(__nv_bfloat162*)(to + size_t(8) * n) = __floats2bfloat162_rn(sums[2], sums[3]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 32 != 0 || k % 16 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 32, m / 16), 128, 0, stream>>>((const __nv_bfloat16*)a, (const __nv_bfloat16*)b,
                                                    (__nv_bfloat16*)c, n, k);
  return cudaGetLastError();
}
