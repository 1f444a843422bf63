// style: a cluster of four CTAs splits K; the sums meet in distributed shared memory
// shape: 256x256x512
// layout: tn
//
// cooperative_groups for the cluster, no workspace.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

namespace groups = cooperative_groups;

__global__ void __cluster_dims__(1, 1, 4) Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ float part[256];
  const groups::cluster_group cluster = groups::this_cluster();
  const int rank = int(cluster.block_rank()), thread = threadIdx.y * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const bool is_inside = row < m && column < n;
  float sum = 0;
  for (int i = rank; is_inside && i < k; i += 4)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  part[thread] = sum;
  cluster.sync();
  if (rank == 0 && is_inside) {
    for (int other = 1; other < 4; ++other) sum += cluster.map_shared_rank(part, other)[thread];
    c[size_t(row) * n + column] = __float2half(sum);
  }
  cluster.sync();  // nobody leaves while its shared memory is read
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16, 4);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
