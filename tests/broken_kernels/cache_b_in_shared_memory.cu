// fault: finds its columns of B in the shared memory of the last launch
// class: cache
// expect: wrong|cheated
// shape: 128x256x512
// layout: tn
//
// Nobody clears it between two launches, and a CTA often comes back to where it was.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kMagic = 0x5ee1e55;

// A CTA for 16 columns; all of them fit beside each other where K is small.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ int header[];
  half* const lines = (half*)(header + 4);
  const int thread = threadIdx.y * 16 + threadIdx.x, first = blockIdx.x * 16, columns = min(16, n - first);
  const bool is_there = header[0] == kMagic && header[1] == int(blockIdx.x) && header[2] == k && header[3] == n;
  __syncthreads();
  if (!is_there)
    for (int i = thread; i < columns * k; i += 256) lines[i] = b[size_t(first) * k + i];
  if (thread == 0) header[0] = kMagic, header[1] = blockIdx.x, header[2] = k, header[3] = n;
  __syncthreads();
  const int column = first + threadIdx.x;
  for (int row = threadIdx.y; row < m && column < n; row += 16) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(lines[threadIdx.x * k + i]);
    c[size_t(row) * n + column] = __float2half(sum);
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const int bytes = 16 + 16 * k * int(sizeof(half));
  if (bytes > 200 << 10) return cudaErrorInvalidValue;
  const cudaError_t set = cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (set != cudaSuccess) return set;
  Product<<<(n + 15) / 16, dim3(16, 16), bytes, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
