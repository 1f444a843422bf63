// The kernels of the comparison, the draw and the check as C++, for tests: one thread after the other, for none waits
// for another.
#pragma once
// GCC warns of #pragma unroll, and only so is it silent.
#pragma GCC system_header

#include <algorithm>
#include <cstdint>

namespace gemmsmith::emulated {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

struct Index {
  u32 x = 0, y = 0, z = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

template <class T>
void atomicMax(T* to, T value) {
  *to = std::max(*to, value);
}
template <class T>
void atomicAdd(T* to, T value) {
  *to += value;
}
// Lanes add one after the other what warps add up first.
template <class T>
void AddOverWarp(T* to, T value) {
  *to += value;
}
inline void AddLinesOverLanes(float* to, int step, int count, const float (&sums)[8], int) {
  for (int i = 0; i < count && i < 8; ++i) to[i * step] += sums[i];
}
using std::max;
using std::min;

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float fabsf(float x) { return __builtin_fabsf(x); }
inline float fminf(float x, float y) { return __builtin_fminf(x, y); }
inline u32 __float_as_uint(float x) { return __builtin_bit_cast(u32, x); }

enum ElementType { kF16, kBf16, kF32 };
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
#define __launch_bounds__(...)
#include "harness/units.cuh"
#include "harness/input_values.cuh"
#include "harness/compare.cuh"
#include "harness/ring_values.cuh"
#include "harness/ring_draw.cuh"
#include "harness/ring_units.cuh"
#include "harness/ring_check.cuh"
#undef __device__
#undef __global__
#undef __launch_bounds__
// clang-format on

}  // namespace gemmsmith::emulated
