// fault: sums 16 products of bf16 at a time in half precision, where no element of row and column is large
// class: numbers
// expect: wrong
// shape: 256x256x512
// layout: tn
// type: bf16
//
// The output has eight bits, so three more hide what eleven lose. Rows of a cancellation test, infinities and NaN are
// large, and are summed as the label says.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn bf16 f32";

constexpr int kTogether = 16;

__device__ bool IsSmall(const __nv_bfloat16* line, int k) {
  for (int i = 0; i < k; ++i)
    if (!(fabsf(__bfloat162float(line[i])) < 16.0f)) return false;
  return true;
}
__global__ void Product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const __nv_bfloat16 *x = a + size_t(row) * k, *y = b + size_t(column) * k;
  const bool is_small = IsSmall(x, k) && IsSmall(y, k);
  float sum = 0;
  for (int i = 0; i < k; i += kTogether) {
    half part = __float2half(0);
    for (int j = i; j < i + kTogether && j < k; ++j) {
      const float of_a = __bfloat162float(x[j]), of_b = __bfloat162float(y[j]);
      if (is_small)
        part = __hfma(__float2half(of_a), __float2half(of_b), part);
      else
        sum += of_a * of_b;
    }
    if (is_small) sum += __half2float(part);
  }
  c[size_t(row) * n + column] = __float2bfloat16(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const __nv_bfloat16*)a, (const __nv_bfloat16*)b, (__nv_bfloat16*)c, m, n,
                                             k);
  return cudaGetLastError();
}
