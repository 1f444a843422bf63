// style: cp.async.bulk and an mbarrier bring whole lines to shared memory
// shape: 256x256x512
// layout: tn
//
// One thread orders 16 lines of A and 16 of B; the barrier counts their bytes. K is a multiple of 8, at most 2048.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ unsigned SharedAddress(const void* at) { return unsigned(__cvta_generic_to_shared(at)); }
__device__ void CopyLine(half* to, const half* from, unsigned bytes, const unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   SharedAddress(to)),
               "l"(from), "r"(bytes), "r"(SharedAddress(barrier))
               : "memory");
}

__global__ void __launch_bounds__(256) Product(const half* a, const half* b, half* c, int m, int n, int k) {
  extern __shared__ __align__(128) half lines[];
  __shared__ __align__(8) unsigned long long barrier;
  const int first_row = blockIdx.y * 16, first_column = blockIdx.x * 16;
  const int rows = min(16, m - first_row), columns = min(16, n - first_column);
  const unsigned bytes = k * sizeof(half);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SharedAddress(&barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(&barrier)),
                 "r"((rows + columns) * bytes)
                 : "memory");
    for (int i = 0; i < rows; ++i) CopyLine(lines + i * k, a + size_t(first_row + i) * k, bytes, &barrier);
    for (int i = 0; i < columns; ++i)
      CopyLine(lines + (16 + i) * k, b + size_t(first_column + i) * k, bytes, &barrier);
  }
  asm volatile(
      "{ .reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra AGAIN; }" ::"r"(SharedAddress(&barrier))
      : "memory");
  const int y = threadIdx.x / 16, x = threadIdx.x % 16;
  if (y >= rows || x >= columns) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(lines[y * k + i]) * __half2float(lines[(16 + x) * k + i]);
  c[size_t(first_row + y) * n + first_column + x] = __float2half(sum);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const int shared_bytes = 32 * k * int(sizeof(half));
  if (k % 8 != 0 || k > 2048) return cudaErrorInvalidValue;
  const cudaError_t allowed = cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 << 10);
  if (allowed != cudaSuccess) return allowed;
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, 256, shared_bytes, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
