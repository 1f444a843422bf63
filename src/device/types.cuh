// Words shared by every kernel: bit types, the argument block, and compile-time dimensions. Includes nothing, so that
// NVRTC needs no toolkit folder; half-precision values are carried as their 16 bits.
#pragma once

namespace gemmsmith {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

#define GEMMSMITH_DEVICE __device__ __forceinline__

// The parameter of every GEMM kernel, or the last part of it; src/program/launch.h declares the same bytes.
struct GemmArguments {
  const void* a;
  const void* b;
  void* c;
  void* workspace;
  int m, n, k;
  int lda, ldb, ldc;
};

// A dimension that a plan fixes (value > 0) or leaves to the arguments.
template <int kFixed>
struct Dimension {
  static constexpr bool is_fixed = kFixed > 0;
  // Known at compile time to be a multiple of `step`.
  static __host__ __device__ constexpr bool IsMultipleOf(int step) { return is_fixed && kFixed % step == 0; }
  static GEMMSMITH_DEVICE int Value(int argument) { return is_fixed ? kFixed : argument; }
};

// When a kernel lets the next launch of a chain start.
enum class Trigger {
  kNone,   // it does not, and it expects the launch before it to have ended
  kEarly,  // at once
  kSoon,   // when the launch before has ended and its first own loads are on their way
  kLate,   // when the last matrix instructions are on their way
  kLast,   // it does not, so only when all of its CTAs have ended, whose places then are free in the order of the launch
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

__host__ __device__ constexpr int Min(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int Max(int a, int b) { return a > b ? a : b; }
__host__ __device__ constexpr int CeilDivide(int a, int b) { return (a + b - 1) / b; }

}  // namespace gemmsmith
