// style: split K in one kernel: the last CTA of each tile adds the parts in order
// shape: 96x80x2048
// layout: tn
//
// Counters, then parts, in the workspace; the last arriver clears both. The same bits every time.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// One of the splits of K: split z has the products z, z + splits, ...
__device__ float PartOfSum(const half* a, const half* b, int row, int column, int k) {
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  return sum;
}

constexpr int kSplits = 6;

__global__ void Product(const half* a, const half* b, half* c, int* arrivals, float* parts, int m, int n, int k) {
  __shared__ bool is_last;
  const int tile = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const bool is_inside = row < m && column < n;
  float* own = parts + (size_t(tile) * kSplits) * 256 + thread;
  own[blockIdx.z * 256] = is_inside ? PartOfSum(a, b, row, column, k) : 0.0f;
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(arrivals + tile, 1) == kSplits - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  float sum = 0;
  for (int split = 0; split < kSplits; ++split) {
    sum += __ldcg(own + split * 256);
    own[split * 256] = 0;
  }
  if (is_inside) c[size_t(row) * n + column] = __float2half(sum);
  if (thread == 0) arrivals[tile] = 0;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16, kSplits);
  const size_t tiles = size_t(grid.x) * grid.y, counters = (tiles * sizeof(int) + 255) / 256 * 256;
  if (counters + tiles * kSplits * 256 * sizeof(float) > workspace_bytes) return cudaErrorInvalidValue;
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, (int*)workspace,
                                             (float*)((char*)workspace + counters), m, n, k);
  return cudaGetLastError();
}
