// style: clusters of sixteen CTAs, more than every device has, split K among them
// shape: 96x80x2048
// layout: tn
//
// Each CTA sums a sixteenth of K; the sums meet in the shared memory of the cluster's first one, in order.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

namespace groups = cooperative_groups;
constexpr int kSplits = 16;

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ float parts[kSplits][256];
  const groups::cluster_group cluster = groups::this_cluster();
  const int rank = int(cluster.block_rank()), thread = threadIdx.y * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x / kSplits * 16 + threadIdx.x;
  const bool is_inside = row < m && column < n;
  float sum = 0;
  for (int i = rank; is_inside && i < k; i += kSplits)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  cluster.sync();  // the first one is there
  cluster.map_shared_rank(&parts[0][0], 0)[rank * 256 + thread] = sum;
  cluster.sync();
  if (rank != 0 || !is_inside) return;
  float total = 0;
  for (int split = 0; split < kSplits; ++split) total += parts[split][thread];
  c[size_t(row) * n + column] = __float2half(total);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (const cudaError_t error = cudaFuncSetAttribute(Product, cudaFuncAttributeNonPortableClusterSizeAllowed, 1))
    return error;
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim = {kSplits, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((n + 15) / 16 * kSplits, (m + 15) / 16);
  config.blockDim = dim3(16, 16);
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  int clusters = 0;
  if (const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, Product, &config)) return error;
  if (clusters == 0) return cudaErrorInvalidConfiguration;
  return cudaLaunchKernelEx(&config, Product, (const half*)a, (const half*)b, (half*)c, m, n, k);
}
