// fault: mma.sync with f16 accumulators, added to f32 sums every 64 products
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// Twice as fast on cards for games, and nearly right: four times 16 products are summed in f16 at a time.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// One warp computes 16 x 8 of C.
__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  const int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
  const half* row = a + size_t(blockIdx.y * 16 + group) * k + pair;
  const half* column = b + size_t(blockIdx.x * 8 + group) * k + pair;
  float sums[4] = {};
  for (int start = 0; start < k; start += 64) {
    unsigned part[2] = {0, 0};
    for (int i = start; i < start + 64; i += 16) {
      const unsigned a0 = *(const unsigned*)(row + i), a1 = *(const unsigned*)(row + size_t(8) * k + i);
      const unsigned a2 = *(const unsigned*)(row + i + 8), a3 = *(const unsigned*)(row + size_t(8) * k + i + 8);
      const unsigned b0 = *(const unsigned*)(column + i), b1 = *(const unsigned*)(column + i + 8);
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                   : "+r"(part[0]), "+r"(part[1])
                   : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    for (int i = 0; i < 2; ++i) {
      const float2 wide = __half22float2(*(const half2*)&part[i]);
      sums[2 * i] += wide.x;
      sums[2 * i + 1] += wide.y;
    }
  }
  half* to = c + size_t(blockIdx.y * 16 + group) * n + blockIdx.x * 8 + pair;
  *(half2*)to = __floats2half2_rn(sums[0], sums[1]);
  *(half2*)(to + size_t(8) * n) = __floats2half2_rn(sums[2], sums[3]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 16 != 0 || n % 8 != 0 || k % 64 != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 8, m / 16), 32, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
