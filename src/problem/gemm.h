// Row-major C[m,n] = alpha * A * B + beta * C in half precision.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "problem/task.h"

namespace gemmsmith {

struct Shape {
  int m = 0;
  int n = 0;
  int k = 0;
  double Volume() const { return double(m) * n * k; }
  auto operator<=>(const Shape&) const = default;
};
// "256x512x4096"; ParseShape also takes "256_512_4096". Each of m, n, k from 1 to 2^30.
std::string Print(const Shape& shape);
Result<Shape> ParseShape(std::string_view text);

enum class Order : uint8_t { kRow, kColumn };

// How A and B are stored. The paper's two: nn (both row-major) and tn (B column-major: stored n x k, k contiguous).
struct Layout {
  Order a = Order::kRow;
  Order b = Order::kColumn;
  auto operator<=>(const Layout&) const = default;
};
inline constexpr Layout kNn{Order::kRow, Order::kRow};
inline constexpr Layout kTn{Order::kRow, Order::kColumn};
// A column-major: stored k x m.
inline constexpr Layout kColumnRow{Order::kColumn, Order::kRow};
inline constexpr Layout kColumnColumn{Order::kColumn, Order::kColumn};
inline constexpr Layout kLayouts[] = {kNn, kTn, kColumnRow, kColumnColumn};
std::string_view Name(const Layout& layout);  // "nn", "tn", "col-row", "col-col"
Result<Layout> ParseLayout(std::string_view text);

enum class Accumulation : uint8_t { kF32, kF16 };
std::string_view Name(Accumulation accumulation);  // "f32", "f16"

// The part of a Gemm that a compiled kernel fixes for every shape.
struct GemmKind {
  Layout layout = kTn;
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  // The caller's promise: the kernel before does not write B. A chained kernel then waits for A alone.
  bool constant_b = false;
  auto operator<=>(const GemmKind&) const = default;
};
// The type, the accumulation where it is not f32, and the promise of a constant B: "bf16", "f16_f16_constant_b".
std::string PrintNumberTypes(const GemmKind& kind);

// The "problem" of docs/design.md.
struct Gemm {
  Shape shape;
  GemmKind kind;
  // Elements between neighbouring rows (row-major) or columns (column-major); 0: packed.
  int lda = 0, ldb = 0, ldc = 0;

  int LeadingA() const;
  int LeadingB() const;
  int LeadingC() const;
  // The largest power of two, at most 8, that divides the given leading dimension: elements a vector access may hold.
  int AlignmentA() const;
  int AlignmentB() const;
  int AlignmentC() const;
  auto operator<=>(const Gemm&) const = default;
};

// One Gemm for a problem in nn and in tn: in tn if A and B are packed, else the same. A problem with a column-major A
// stands by itself.
Gemm WithoutLayout(const Gemm& gemm);

// Canonical text: "gemm 256x512x4096 tn f16 f32", with " constant_b" where it is promised, and with " lda=.. ldb=..
// ldc=.." where not packed. Round-trips.
std::string Print(const Gemm& gemm);
Result<Gemm> ParseGemm(std::string_view text);
// Every reason why the numbers describe no Gemm: a leading dimension shorter than a line, a matrix over 2^40 bytes.
std::vector<std::string> WhyInvalid(const Gemm& gemm);

Task MakeTask(const Gemm& gemm);

}  // namespace gemmsmith
