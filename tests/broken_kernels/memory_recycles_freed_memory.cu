// fault: allocates memory without writing it and returns what it held
// class: memory
// expect: compile_failed
// says: the contract has no cudaMallocAsync
// shape: 256x256x512
// layout: tn
//
// The incident of Sakana's AI CUDA Engineer: the allocator handed the reference's freed output to the candidate.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  void* recycled = nullptr;
  const size_t bytes = size_t(m) * n * sizeof(half);
  if (const cudaError_t allocated = cudaMallocAsync(&recycled, bytes, stream); allocated != cudaSuccess)
    return allocated;
  cudaMemcpyAsync(c, recycled, bytes, cudaMemcpyDeviceToDevice, stream);
  return cudaFreeAsync(recycled, stream);
}
