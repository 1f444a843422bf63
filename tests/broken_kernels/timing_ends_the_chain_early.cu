// fault: its last kernel is empty and does not wait for the one that works
// class: timing
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// The empty kernel begins with the product and ends at once. Whoever follows a programmatic edge may see it end first.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}
__global__ void Nothing() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((n + 15) / 16, (m + 15) / 16);
  config.blockDim = dim3(16, 16);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  const cudaError_t launched = cudaLaunchKernelEx(&config, Product, (const half*)a, (const half*)b, (half*)c, m, n, k);
  if (launched != cudaSuccess) return launched;
  config.gridDim = config.blockDim = dim3(1);
  return cudaLaunchKernelEx(&config, Nothing);
}
