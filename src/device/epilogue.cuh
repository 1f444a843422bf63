// Stores f32 sums to C: kCount neighbouring columns of one row, clipped at the edges of the matrix.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// The extent of C. kInside: no tile crosses an edge, as known at compile time.
template <bool kInside>
struct OutputBounds {
  int m, n;
  GEMMSMITH_DEVICE bool HasRow(int row) const { return kInside || row < m; }
  GEMMSMITH_DEVICE int ColumnsFrom(int column) const { return n - column; }
};

template <class Type, bool kInside>
GEMMSMITH_DEVICE void StoreElement(u16* c, i64 ldc, int row, int column, float value, OutputBounds<kInside> bounds) {
  const u32 element[1] = {Pack<Type>(value, 0)};
  if (bounds.HasRow(row) && (kInside || bounds.ColumnsFrom(column) > 0)) Store<1>(c + row * ldc + column, element);
}

// kVector: elements that one store may hold; the leading dimension of C limits it.
template <class Type, int kVector, int kCount, bool kInside>
GEMMSMITH_DEVICE void StoreRow(u16* c, i64 ldc, int row, int column, const float (&values)[kCount],
                               OutputBounds<kInside> bounds) {
  static_assert(kCount % 2 == 0, "pairs");
  if (!bounds.HasRow(row)) return;
  u16* to = c + row * ldc + column;
  constexpr int kWidth = Min(kVector, Min(kCount, 8));
  u32 packed[kCount / 2];
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) packed[i] = Pack<Type>(values[2 * i], values[2 * i + 1]);
  if constexpr (kWidth > 1) {
    if (kInside || bounds.ColumnsFrom(column) >= kCount) {
#pragma unroll
      for (int i = 0; i < kCount; i += kWidth) {
        u32 part[kWidth / 2];
#pragma unroll
        for (int r = 0; r < kWidth / 2; ++r) part[r] = packed[i / 2 + r];
        Store<kWidth>(to + i, part);
      }
      return;
    }
  }
  if constexpr (kWidth == 1 || !kInside) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const u32 element[1] = {i % 2 == 0 ? packed[i / 2] : packed[i / 2] >> 16};
      if (kInside || i < bounds.ColumnsFrom(column)) Store<1>(to + i, element);
    }
  }
}

}  // namespace gemmsmith
