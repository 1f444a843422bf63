// The kernels of the draw and the check as C++, for a test: 256 threads for a block, one block after the other.
#pragma once
// GCC warns of #pragma unroll, and only so is it silent.
#pragma GCC system_header

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>

namespace gemmsmith::emulated {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

struct Index {
  u32 x = 0, y = 0;
};
struct float4 {
  float x, y, z, w;
};
inline thread_local Index threadIdx, blockIdx;
inline Index blockDim, gridDim;
inline std::barrier<>* block_barrier = nullptr;

inline void __syncthreads() { block_barrier->arrive_and_wait(); }
inline void atomicAdd(float* to, float value) { std::atomic_ref(*to).fetch_add(value); }
inline void atomicMax(u64* to, u64 value) {
  std::atomic_ref all(*to);
  for (u64 seen = all.load(); seen < value && !all.compare_exchange_weak(seen, value);) continue;
}
using std::min;

enum ElementType { kF16, kBf16 };
struct Matrix {
  void* data;
  i64 lines, line_length, stride;
  int lines_are_rows;
  int type;
};
inline float Widen(u16 bits, int type) {
  return type == kBf16 ? __builtin_bit_cast(float, u32(bits) << 16) : float(__builtin_bit_cast(_Float16, bits));
}
inline u16 Narrow(float value, int type) {
  if (type == kF16) return __builtin_bit_cast(u16, _Float16(value));
  const u32 bits = __builtin_bit_cast(u32, value);
  return u16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline i64 First() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
inline i64 Step() { return i64(gridDim.x) * blockDim.x; }

// clang-format off
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)
#include "harness/input_values.cuh"
#include "harness/ring_values.cuh"
#include "harness/ring_draw.cuh"
#include "harness/ring_check.cuh"
#undef __device__
#undef __global__
#undef __shared__
#undef __launch_bounds__
// clang-format on

}  // namespace gemmsmith::emulated
