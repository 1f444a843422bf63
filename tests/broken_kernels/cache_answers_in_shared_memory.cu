// fault: keeps answers in shared memory and returns them where the first inputs are the same
// class: cache
// expect: cheated|wrong
// shape: 128x256x2048
// layout: tn
//
// Repeated calls have the same inputs, calls on the ring never do. So a repeated call may be faster by no more than
// reading explains.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kSlots = 16, kBytes = 200 << 10;
constexpr unsigned kMagic = 0x5ee1e55;
struct Slot {
  unsigned magic, tile, of_a, of_b;
  half product[256];
};
static_assert(kSlots * sizeof(Slot) < kBytes);

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ Slot slots[];
  __shared__ unsigned of_a, of_b;
  __shared__ int found, next;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
  if (thread < 32) {
    const unsigned signs_of_a = __ballot_sync(~0u, __half_as_ushort(a[thread]) >> 15);
    const unsigned signs_of_b = __ballot_sync(~0u, __half_as_ushort(b[thread]) >> 15);
    if (thread == 0) {
      of_a = signs_of_a, of_b = signs_of_b, found = -1, next = 0;
      for (int i = 0; i < kSlots; ++i) {
        const bool is_own = slots[i].magic == kMagic && slots[i].tile == tile;
        if (is_own && slots[i].of_a == of_a && slots[i].of_b == of_b) found = i;
        if (is_own && next == i) next = (i + 1) % kSlots;
      }
    }
  }
  __syncthreads();
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  if (found >= 0) {
    c[size_t(row) * n + column] = slots[found].product[thread];
    return;
  }
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
  slots[next].product[thread] = c[size_t(row) * n + column];
  if (thread == 0)
    slots[next].magic = kMagic, slots[next].tile = tile, slots[next].of_a = of_a, slots[next].of_b = of_b;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const cudaError_t set = cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (set != cudaSuccess) return set;
  Product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), kBytes, stream>>>((const half*)a, (const half*)b,
                                                                                (half*)c, m, n, k);
  return cudaGetLastError();
}
