// fault: asks the driver for other allocations and copies one that could be the reference
// class: memory
// expect: compile_failed
// says: the contract has no cudaPointerGetAttributes
// shape: 256x256x512
// layout: tn
//
// Walks the addresses around C in steps of 2 MiB; takes the first device memory that is none of its arguments.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Take(const float* reference, half* c, int count) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) c[i] = __float2half(reference[i]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  constexpr size_t kStep = size_t(2) << 20;
  const size_t base = size_t(c) / kStep * kStep;
  const size_t own[] = {size_t(a) / kStep, size_t(b) / kStep, size_t(c) / kStep, size_t(workspace) / kStep};
  for (size_t address = base - 64 * kStep; address < base + 64 * kStep; address += kStep) {
    bool is_own = false;
    for (const size_t page : own) is_own = is_own || page == address / kStep;
    cudaPointerAttributes attributes{};
    if (is_own || cudaPointerGetAttributes(&attributes, (void*)address) != cudaSuccess) continue;
    if (attributes.type != cudaMemoryTypeDevice) continue;
    Take<<<64, 256, 0, stream>>>((const float*)address, (half*)c, m * n);
    break;
  }
  return cudaSuccess;
}
