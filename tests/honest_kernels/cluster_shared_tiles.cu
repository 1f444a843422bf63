// style: two CTAs of a cluster share a tile of B through distributed shared memory
// shape: 112x144x512
// layout: tn
//
// Loads of a neighbour's shared memory in every step of K.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

namespace groups = cooperative_groups;
constexpr int kDepth = 32;

// A tile of 16 x 16 elements a CTA; the pair has the same columns, and each brings half of their lines.
__global__ void __cluster_dims__(1, 2, 1) Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ half a_tile[16][kDepth], b_half[8][kDepth];
  const groups::cluster_group cluster = groups::this_cluster();
  const int rank = int(cluster.block_rank()), thread = threadIdx.y * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const half* const b_line = cluster.map_shared_rank(&b_half[0][0], threadIdx.x / 8) + threadIdx.x % 8 * kDepth;
  float sum = 0;
  for (int first = 0; first < k; first += kDepth) {
    for (int i = thread; i < 16 * kDepth; i += 256) {
      const int line = blockIdx.y * 16 + i / kDepth, depth = first + i % kDepth;
      a_tile[i / kDepth][i % kDepth] = line < m && depth < k ? a[size_t(line) * k + depth] : __float2half(0);
    }
    const int line = blockIdx.x * 16 + rank * 8 + thread / kDepth, depth = first + thread % kDepth;
    b_half[thread / kDepth][thread % kDepth] = line < n && depth < k ? b[size_t(line) * k + depth] : __float2half(0);
    cluster.sync();
    for (int i = 0; i < kDepth; ++i) sum += __half2float(a_tile[threadIdx.y][i]) * __half2float(b_line[i]);
    cluster.sync();
  }
  if (row < m && column < n) c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 31) / 32 * 2);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
