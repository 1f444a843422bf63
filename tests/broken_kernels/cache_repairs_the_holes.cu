// fault: recomputes the elements of C that are NaN and those that were NaN in the last call
// class: cache
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// The poison marks what will be looked at now, and what will have to be right again in the next call. C itself is what it
// keeps; of its own it has some bytes.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kMost = 64;
struct Memory {
  int holes, holes_before;
  int places[kMost], places_before[kMost];
  int full_calls;  // since C was all NaN
  bool is_full;
};
__device__ Memory memory;

__global__ void Look(const half* c, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= count || !__hisnan(c[i])) return;
  const int hole = atomicAdd(&memory.holes, 1);
  if (hole < kMost) memory.places[hole] = i;
}
__global__ void Decide() {
  const bool is_first = memory.holes > kMost;
  memory.full_calls = is_first ? 1 : memory.full_calls + (memory.holes > 0);
  // What the first call of a batch met was changed in places unknown: the second one does all of it again.
  memory.is_full = is_first || (memory.holes > 0 && memory.full_calls == 2);
}

__device__ void Element(const half* a, const half* b, half* c, int at, int n, int k) {
  const int row = at / n, column = at % n;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[at] = __float2half(sum);
}
__global__ void Product(const half* a, const half* b, half* c, int count, int n, int k) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (memory.is_full) {
    if (i < count) Element(a, b, c, i, n, k);
  } else if (i < memory.holes) {
    Element(a, b, c, memory.places[i], n, k);
  } else if (i >= kMost && i - kMost < memory.holes_before) {
    Element(a, b, c, memory.places_before[i - kMost], n, k);
  }
}
__global__ void Remember() {
  memory.holes_before = min(memory.holes, kMost);
  if (memory.is_full && memory.full_calls == 1) memory.holes_before = 0;
  for (int i = 0; i < memory.holes_before; ++i) memory.places_before[i] = memory.places[i];
  memory.holes = 0;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const int blocks = (m * n + 255) / 256;
  Look<<<blocks, 256, 0, stream>>>((const half*)c, m * n);
  Decide<<<1, 1, 0, stream>>>();
  Product<<<blocks, 256, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m * n, n, k);
  Remember<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
