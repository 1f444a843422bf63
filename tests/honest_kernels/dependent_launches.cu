// style: two kernels chained by programmatic dependent launch
// shape: 96x80x2048
// layout: tn
//
// The second kernel may start early, and waits before it touches what the first one wrote.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// One of the splits of K: split z has the products z, z + splits, ...
__device__ float PartOfSum(const half* a, const half* b, int row, int column, int k) {
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  return sum;
}

__global__ void Part(const half* a, const half* b, float* parts, int m, int n, int k) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  parts[(size_t(blockIdx.z) * m + row) * n + column] = PartOfSum(a, b, row, column, k);
}
__global__ void AddUp(float* parts, half* c, int count, int splits) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int split = 0; split < splits; ++split) {
    sum += parts[size_t(split) * count + i];
    parts[size_t(split) * count + i] = 0;
  }
  c[i] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  constexpr int kSplits = 4;
  if (size_t(kSplits) * m * n * sizeof(float) > workspace_bytes) return cudaErrorInvalidValue;
  const dim3 grid((n + 15) / 16, (m + 15) / 16, kSplits);
  Part<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (float*)workspace, m, n, k);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = (m * n + 255) / 256;
  config.blockDim = 256;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, AddUp, (float*)workspace, (half*)c, m * n, kSplits);
}
