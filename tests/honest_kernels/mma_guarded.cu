// style: mma.sync with guarded edges
// shape: 77x45x123
// layout: tn
//
// Element by element, zero outside: any shape. Zeros multiply zeros only where both operands end.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// sums += a * b, 16 x 8 x 16.
__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two neighbouring elements of a line, zero outside of it.
__device__ unsigned Pair(const half* matrix, int line, int lines, int at, int length) {
  const unsigned short* from = (const unsigned short*)matrix + size_t(line) * length;
  const unsigned low = line < lines && at < length ? from[at] : 0;
  const unsigned high = line < lines && at + 1 < length ? from[at + 1] : 0;
  return low | high << 16;
}

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4, column = blockIdx.x * 8 + lane / 4;
  const int pair = lane % 4 * 2;
  float sums[4] = {};
  for (int i = pair; i < k + pair; i += 16) {
    const unsigned x[4] = {Pair(a, row, m, i, k), Pair(a, row + 8, m, i, k), Pair(a, row, m, i + 8, k),
                           Pair(a, row + 8, m, i + 8, k)};
    const unsigned y[2] = {Pair(b, column, n, i, k), Pair(b, column, n, i + 8, k)};
    MultiplyAdd(sums, x, y);
  }
  for (int i = 0; i < 4; ++i) {
    const int to_row = row + i / 2 * 8, to_column = blockIdx.x * 8 + pair + i % 2;
    if (to_row < m && to_column < n) c[size_t(to_row) * n + to_column] = __float2half(sums[i]);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 7) / 8, (m + 15) / 16);
  Product<<<grid, 32, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
