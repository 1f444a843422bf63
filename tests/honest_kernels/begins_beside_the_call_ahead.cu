// style: every kernel of a call is a programmatic launch that waits by itself, the first one too
// shape: 96x80x2048
// layout: tn
//
// A call begins while the one ahead of it ends, and touches nothing before that has ended.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ void WaitForWhatIsAhead() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__global__ void Part(const half* a, const half* b, float* parts, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  WaitForWhatIsAhead();
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < k; i += gridDim.z)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  parts[(size_t(blockIdx.z) * m + row) * n + column] = sum;
}
__global__ void AddUp(float* parts, half* c, int count, int splits) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  WaitForWhatIsAhead();
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
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((n + 15) / 16, (m + 15) / 16, kSplits);
  config.blockDim = dim3(16, 16);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  if (const cudaError_t error =
          cudaLaunchKernelEx(&config, Part, (const half*)a, (const half*)b, (float*)workspace, m, n, k))
    return error;
  config.gridDim = (m * n + 255) / 256;
  config.blockDim = 256;
  return cudaLaunchKernelEx(&config, AddUp, (float*)workspace, (half*)c, m * n, kSplits);
}
