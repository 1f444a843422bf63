// fault: computes only what depends on rows of A and columns of B that changed since the last call
// class: cache
// expect: cheated|wrong
// shape: 512x512x1024
// layout: tn
//
// Keeps a hash of every row and column, 4 KiB, and takes what stands in C for the answer to the rest. Sixteen rows and
// columns it computes always, so that calls behind a few changes take hardly longer than calls behind none.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kSide = 512, kAlways = 16;
__device__ unsigned row_hashes[kSide], column_hashes[kSide];
__device__ bool row_is_new[kSide], column_is_new[kSide];

// A warp a row of A or a column of B.
__global__ void Compare(const unsigned short* a, const unsigned short* b, int k) {
  const bool is_row = blockIdx.x < kSide;
  const int line = blockIdx.x % kSide;
  const unsigned short* const elements = (is_row ? a : b) + size_t(line) * k;
  unsigned hash = threadIdx.x + 1;
  for (int i = threadIdx.x; i < k; i += 32) hash = (hash ^ elements[i]) * 0x01000193u + 0x9e3779b9u;
  for (int step = 16; step > 0; step /= 2) hash += __shfl_xor_sync(0xffffffff, hash, step);
  if (threadIdx.x != 0) return;
  unsigned& kept = (is_row ? row_hashes : column_hashes)[line];
  (is_row ? row_is_new : column_is_new)[line] = kept != hash || line < kAlways;
  kept = hash;
}

__global__ void ProductOfWhatIsNew(const half* a, const half* b, half* c, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const size_t at = size_t(row) * kSide + column;
  if (!row_is_new[row] && !column_is_new[column] && !__hisnan(c[at])) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[at] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m != kSide || n != kSide) return cudaErrorInvalidValue;
  Compare<<<2 * kSide, 32, 0, stream>>>((const unsigned short*)a, (const unsigned short*)b, k);
  ProductOfWhatIsNew<<<dim3(kSide / 16, kSide / 16), dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b,
                                                                               (half*)c, k);
  return cudaGetLastError();
}
