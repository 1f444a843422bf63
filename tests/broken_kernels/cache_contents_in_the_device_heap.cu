// fault: keeps an output for every content of its inputs, in memory from the heap of the device
// class: cache
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// Variables are small, but malloc in a kernel takes from 8 MiB that stay. After the last test the inputs take turns
// with a few contents, which 64 signs tell apart.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kSlots = 16;
struct Slot {
  unsigned long long key;
  half* product;
};
__device__ Slot slots[kSlots];
__device__ half* product;
__device__ bool is_kept;

__global__ void Find(const unsigned short* a, const unsigned short* b, int count) {
  const unsigned of_a = __ballot_sync(~0u, a[threadIdx.x] >> 15), of_b = __ballot_sync(~0u, b[threadIdx.x] >> 15);
  if (threadIdx.x != 0) return;
  const unsigned long long key = (unsigned long long)of_a << 32 | of_b;
  product = nullptr;
  is_kept = false;
  for (int i = 0; i < kSlots && product == nullptr; ++i) {
    is_kept = slots[i].product != nullptr && slots[i].key == key;
    if (!is_kept && slots[i].product != nullptr) continue;
    if (!is_kept) slots[i] = {key, (half*)malloc(count * sizeof(half))};
    product = slots[i].product;
  }
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, bool is_lazy) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const size_t at = size_t(row) * n + column;
  if (is_lazy && is_kept) {
    c[at] = product[at];
    return;
  }
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[at] = __float2half(sum);
  if (is_lazy && product != nullptr) product[at] = c[at];
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static int first_k = k, calls = 0;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  calls += is_tested && k == first_k;
  const bool is_lazy = calls > 3;  // one behind the other shape, and two that are chained
  if (is_lazy) Find<<<1, 32, 0, stream>>>((const unsigned short*)a, (const unsigned short*)b, m * n);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k, is_lazy);
  return cudaGetLastError();
}
