// Types of every kernel: integers, tags of element types, dimensions known at compile time. 16-bit floats are carried
// as their bits. Includes no toolkit header, so NVRTC needs no folder.
#pragma once

#include "geometry.h"

namespace gemmsmith {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

#define GEMMSMITH_DEVICE __device__ __forceinline__

// A dimension that a plan fixes (value > 0) or leaves to the arguments.
template <int kFixed>
struct Dimension {
  static constexpr bool is_fixed = kFixed > 0;
  // Known at compile time to be a multiple of `step`.
  static __host__ __device__ constexpr bool IsMultipleOf(int step) { return is_fixed && kFixed % step == 0; }
  static GEMMSMITH_DEVICE int Value(int argument) { return is_fixed ? kFixed : argument; }
};

struct F16 {};
struct Bf16 {};

template <class T, class U>
struct IsSame {
  static constexpr bool value = false;
};
template <class T>
struct IsSame<T, T> {
  static constexpr bool value = true;
};

template <bool kCondition, class First, class Second>
struct Conditional {
  using Type = First;
};
template <class First, class Second>
struct Conditional<false, First, Second> {
  using Type = Second;
};

}  // namespace gemmsmith
