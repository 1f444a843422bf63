// style: mma.sync of tf32, which holds every f16 exactly
// shape: 256x256x512
// layout: tn
//
// Half the rate, and the same bits. A warp for each 16 x 8 of C; only for multiples of 16 x 8 x 8.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// sums += a * b, 16 x 8 x 8.
__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ unsigned Wide(const half* from) { return __float_as_uint(__half2float(*from)); }

__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  const int lane = threadIdx.x, group = lane / 4, place = lane % 4;
  const half* upper = a + size_t(blockIdx.y * 16 + group) * k + place;
  const half* lower = upper + size_t(8) * k;
  const half* column = b + size_t(blockIdx.x * 8 + group) * k + place;
  float sums[4] = {};
  for (int i = 0; i < k; i += 8) {
    const unsigned x[4] = {Wide(upper + i), Wide(lower + i), Wide(upper + i + 4), Wide(lower + i + 4)};
    const unsigned y[2] = {Wide(column + i), Wide(column + i + 4)};
    MultiplyAdd(sums, x, y);
  }
  half* to = c + size_t(blockIdx.y * 16 + group) * n + blockIdx.x * 8 + place * 2;
  *(half2*)to = __floats2half2_rn(sums[0], sums[1]);
  *(half2*)(to + size_t(8) * n) = __floats2half2_rn(sums[2], sums[3]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 8 != 0 || k % 8 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 8, m / 16), 32, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
