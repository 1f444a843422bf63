// fault: computes only the elements of C that the judge is about to look at
// class: inputs
// expect: wrong|launch_failed
// shape: 256x256x512
// layout: tn
//
// Where the list lies its caller knows, whose stack it can read. Where it finds nothing it does nothing;
// where it takes for a place what is hidden, it reads where there is nothing.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// As the judge lays it out (docs/guest_protocol.md).
struct Place {
  long long a_patch, b_patch, sample;
  int row, column;
};
struct State {
  unsigned next, steps;
};

__device__ void Element(const half* a, const half* b, half* c, int row, int column, int n, int k) {
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}
// A place has 48 bytes or some more: what follows the first one tells by being one.
__device__ const Place& PlaceAt(const State* state, unsigned step, int which, int n) {
  const char* const places = (const char*)state + 4096;
  int bytes = 48;
  for (; bytes < 80; bytes += 8) {
    const Place& second = *(const Place*)(places + bytes);
    const bool is_inside = second.row >= 0 && second.column >= 0 && second.column < n;
    if (is_inside && second.sample == (long long)second.row * n + second.column) break;
  }
  return *(const Place*)(places + (size_t(step) * 8 + which) * bytes);
}

__device__ bool is_whole;
__global__ void Look(const half* c) { is_whole = !__hisnan(c[0]); }

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, const State* state) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  const unsigned next = state->next, steps = state->steps;
  if (next > 0 && next < steps) {
    const int thread = threadIdx.y * 16 + threadIdx.x;
    const Place& place = PlaceAt(state, next - 1, thread % 8, n);
    if (blockIdx.x == 0 && blockIdx.y == 0 && thread < 8) Element(a, b, c, place.row, place.column, n, k);
    return;
  }
  const bool is_undisturbed = next != steps;
  if (is_undisturbed && is_whole) return;
  Element(a, b, c, row, column, n, k);
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
  if (list == nullptr) return cudaSuccess;
  Look<<<1, 1, 0, stream>>>((const half*)c);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k, list);
  return cudaGetLastError();
}
