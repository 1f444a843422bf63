// fault: saves an eighth of the products by Strassen's sums, rounded to half precision
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// Fewer products than a matrix multiplication has, of numbers that were no inputs.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// Element (row, column) of a quadrant; which one, its name says.
struct Quadrants {
  const half* first;
  int stride, rows, columns;
  __device__ float At(int down, int right, int row, int column) const {
    return __half2float(first[size_t(down * rows + row) * stride + right * columns + column]);
  }
};
__device__ float Rounded(float x) { return __half2float(__float2half(x)); }

// The seven products of one element of each quadrant of C; B is stored transposed.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m / 2 || column >= n / 2) return;
  const Quadrants x{a, k, m / 2, k / 2}, y{b, k, n / 2, k / 2};
  float p[7] = {};
  for (int i = 0; i < k / 2; ++i) {
    const float a11 = x.At(0, 0, row, i), a12 = x.At(0, 1, row, i), a21 = x.At(1, 0, row, i), a22 = x.At(1, 1, row, i);
    const float b11 = y.At(0, 0, column, i), b21 = y.At(0, 1, column, i), b12 = y.At(1, 0, column, i),
                b22 = y.At(1, 1, column, i);
    p[0] += Rounded(a11 + a22) * Rounded(b11 + b22);
    p[1] += Rounded(a21 + a22) * b11;
    p[2] += a11 * Rounded(b12 - b22);
    p[3] += a22 * Rounded(b21 - b11);
    p[4] += Rounded(a11 + a12) * b22;
    p[5] += Rounded(a21 - a11) * Rounded(b11 + b12);
    p[6] += Rounded(a12 - a22) * Rounded(b21 + b22);
  }
  const auto put = [&](int down, int right, float value) {
    c[size_t(down * (m / 2) + row) * n + right * (n / 2) + column] = __float2half(value);
  };
  put(0, 0, p[0] + p[3] - p[4] + p[6]);
  put(0, 1, p[2] + p[4]);
  put(1, 0, p[1] + p[3]);
  put(1, 1, p[0] - p[1] + p[2] + p[5]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 2 != 0 || n % 2 != 0 || k % 2 != 0) return cudaErrorInvalidValue;
  const dim3 grid((n / 2 + 15) / 16, (m / 2 + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
