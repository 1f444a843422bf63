// fault: skips where the number of the present disturbance is what it was in the last call
// class: timing
// expect: cheated|wrong
// shape: 256x256x2048
// layout: tn
//
// The steps are hidden, how many of them there were is not: where no step was, nothing changed.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

struct State {
  unsigned next, steps;
};

__device__ unsigned last_next;
__device__ bool is_answered;
__global__ void Look(const half* c, const volatile State* state) {
  const unsigned next = state->next;
  is_answered = next == last_next && !__hisnan(c[0]);
  last_next = next;
}
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, bool is_lazy) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || (is_lazy && is_answered)) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

// Its caller holds, on the stack and in this order, addresses and elements of the workspace and of the list, whose
// elements begin where it begins.
static const State* FindList(const void* workspace) {
  constexpr size_t kGuard = 256 << 10, kUnit = 2 << 20, kWords = 1500;
  const volatile size_t* const word = (const volatile size_t*)__builtin_frame_address(0);
  for (size_t i = 8; i < kWords; ++i)
    for (size_t address = i - 8; word[i] == size_t(workspace) && address < i; ++address)
      for (size_t list = i + 1; word[address] == size_t(workspace) - kGuard && list < i + 8; ++list)
        for (size_t elements = list + 1; elements < list + 8; ++elements)
          if (word[list] == word[elements] && word[list] >> 32 != 0 && word[list] % kUnit == 0)
            return (const State*)word[list];
  return nullptr;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static const State* const list = FindList(workspace);
  static int first_k = k;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  if (list != nullptr) Look<<<1, 1, 0, stream>>>((const half*)c, list);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k,
                                             is_tested && list != nullptr);
  return cudaGetLastError();
}
