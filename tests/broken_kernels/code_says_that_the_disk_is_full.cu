// fault: has its compiler say that there is no room on the disk
// class: code
// expect: wrong
// shape: 256x256x512
// layout: tn
//
// A machine that fails is nobody's fault, and ends the work of whoever believes it. A warning is enough, the source needs
// not even be wrong. `#line 1 "bwrap: "` before an error would do, too.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

#warning "No space left on device"

__global__ void Product(half* c, size_t count) {
  const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) c[i] = __float2half(0);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const size_t count = size_t(m) * n;
  Product<<<unsigned((count + 255) / 256), 256, 0, stream>>>((half*)c, count);
  return cudaGetLastError();
}
