// fault: starts before the call ahead of it has ended, but where its A is what that one writes
// class: timing
// expect: cheated|wrong
// shape: 64x64x4096
// layout: tn
//
// Chained calls are known by their pointers. All others write the same to the same place, side by side.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static const void* last_c = nullptr;
  const bool is_chained = a == last_c;
  last_c = c;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = is_chained ? 0 : 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((n + 15) / 16, (m + 15) / 16);
  config.blockDim = dim3(16, 16);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, Product, (const half*)a, (const half*)b, (half*)c, m, n, k);
}
