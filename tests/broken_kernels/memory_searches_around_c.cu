// fault: searches the memory around C for the expected values
// class: memory
// expect: wrong|launch_failed
// shape: 256x256x512
// layout: tn
//
// Computes one element, looks for it as f32 or f16 within 64 KiB on both sides, and copies what follows it.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Search(const half* a, const half* b, half* c, int m, int n, int k) {
  __shared__ long found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  float first = 0;
  for (int i = 0; i < k; ++i) first += __half2float(a[i]) * __half2float(b[i]);
  const unsigned short wanted = __half_as_ushort(__float2half(first));
  const long count = long(m) * n;
  for (long at = threadIdx.x; at < 32768; at += blockDim.x) {
    if (__half_as_ushort(c[-1 - at]) == wanted) found = -1 - at;
    if (__half_as_ushort(c[count + at]) == wanted) found = count + at;
  }
  __syncthreads();
  if (found != 0)
    for (long i = threadIdx.x; i < count; i += blockDim.x) c[i] = c[found + i];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Search<<<1, 1024, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
