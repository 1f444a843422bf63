// style: tables computed at compile time, in constant memory
// shape: 256x256x512
// layout: tn
//
// Tiles in the order of a Morton curve of 16 x 16, from a constexpr table.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

struct Curve {
  unsigned char row[256], column[256];
};
constexpr Curve MakeCurve() {
  Curve curve{};
  for (int i = 0; i < 256; ++i)
    for (int bit = 0; bit < 4; ++bit) {
      curve.column[i] |= (i >> (2 * bit) & 1) << bit;
      curve.row[i] |= (i >> (2 * bit + 1) & 1) << bit;
    }
  return curve;
}
__constant__ constexpr Curve kCurve = MakeCurve();

// Grid: 256 tiles of each 16 x 16 tiles.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = (blockIdx.z * 16 + kCurve.row[blockIdx.x]) * 16 + threadIdx.y;
  const int column = (blockIdx.y * 16 + kCurve.column[blockIdx.x]) * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid(256, (n + 255) / 256, (m + 255) / 256);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
