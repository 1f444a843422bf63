// From the sums of wgmma to C by way of shared memory, a warp's 16 rows at a time, so that whole rows of the tile are
// written in wide accesses; clipped at the matrix's edges. Sums that are C transposed cross a warp's rows: there it is 64
// columns of C at a time, those of a warpgroup.
#pragma once

#include "epilogue.cuh"
#include "tma.cuh"

namespace gemmsmith {

// One 16-byte piece of a row, or as much of it as lies inside.
template <int kVector, bool kInside>
GEMMSMITH_DEVICE void StorePiece(u16* to, const u32 (&piece)[4], int columns_left) {
  if constexpr (kVector == 8) {
    if (kInside || columns_left >= 8) return Store<8>(to, piece);
  } else if constexpr (kVector > 1) {
    if (kInside || columns_left >= 8) {
#pragma unroll
      for (int i = 0; i < 8; i += kVector) {
        u32 part[kVector / 2];
#pragma unroll
        for (int r = 0; r < kVector / 2; ++r) part[r] = piece[i / 2 + r];
        Store<kVector>(to + i, part);
      }
      return;
    }
  }
  if constexpr (!kInside || kVector == 1) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const u32 element[1] = {i % 2 == 0 ? piece[i / 2] : piece[i / 2] >> 16};
      if (kInside || i < columns_left) Store<1>(to + i, element);
    }
  }
}

// Matrices of 8 x 8, each of which a register of all lanes holds; lanes 0 ... 7 name the places of the first one's rows,
// or, transposed, of its columns, the next 8 lanes those of the second one.
template <bool kTransposed>
GEMMSMITH_DEVICE void StoreMatrices(u32 to, u32 first, u32 second, u32 third, u32 fourth) {
  if constexpr (kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(first),
                 "r"(second), "r"(third), "r"(fourth)
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(first), "r"(second),
                 "r"(third), "r"(fourth)
                 : "memory");
}
template <bool kTransposed>
GEMMSMITH_DEVICE void StoreMatrices(u32 to, u32 first, u32 second) {
  if constexpr (kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(to), "r"(first), "r"(second)
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(to), "r"(first), "r"(second)
                 : "memory");
}

// A warp's sums as wgmma leaves them (16 rows x kColumns), converted, to shared memory at place(row, column) of the first
// of each piece: 8 columns of a row, or, transposed, 8 rows of a column.
template <class Type, int kColumns, bool kTransposed, class Place>
GEMMSMITH_DEVICE void StageSums(const float* sums, Place&& place) {
  const int lane = threadIdx.x % 32;
  const int row = kTransposed ? lane / 8 % 2 * 8 : lane % 16, in_matrix = kTransposed ? lane % 8 : 0;
#pragma unroll
  for (int column = 0; column + 16 <= kColumns; column += 16) {
    const float* q = sums + column / 2;
    StoreMatrices<kTransposed>(place(row, column + lane / 16 * 8 + in_matrix), Pack<Type>(q[0], q[1]),
                               Pack<Type>(q[2], q[3]), Pack<Type>(q[4], q[5]), Pack<Type>(q[6], q[7]));
  }
  if constexpr (kColumns % 16 != 0) {
    const float* q = sums + (kColumns - 8) / 2;
    StoreMatrices<kTransposed>(place(row, kColumns - 8 + in_matrix), Pack<Type>(q[0], q[1]), Pack<Type>(q[2], q[3]));
  }
}

GEMMSMITH_DEVICE void LoadStagedPiece(u32 (&piece)[4], u32 from) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
               : "r"(from)
               : "memory");
}

// Rows in shared memory are one piece longer than the tile's, so that the pieces of a column fall into different banks.
template <int kColumns>
struct PaddedRows {
  static constexpr int kRowBytes = kColumns * 2 + 16;
  static constexpr int kBytes = 16 * kRowBytes;  // of a warp
};

template <class Type, int kVector, int kColumns, bool kInside>
GEMMSMITH_DEVICE void StoreThroughPaddedRows(u16* c, i64 ldc, int row, int column,
                                             const float (&sums)[kColumns / 2], u32 staging,
                                             OutputBounds<kInside> bounds) {
  using Rows = PaddedRows<kColumns>;
  StageSums<Type, kColumns, false>(sums, [&](int r, int col) { return staging + r * Rows::kRowBytes + col * 2; });
  __syncwarp();
  constexpr int kPieces = kColumns / 8;
#pragma unroll
  for (int first = 0; first < 16 * kPieces; first += 32) {
    const int i = first + threadIdx.x % 32;
    if (16 * kPieces % 32 != 0 && i >= 16 * kPieces) break;
    const int r = i / kPieces, col = i % kPieces * 8;
    u32 piece[4];
    LoadStagedPiece(piece, staging + r * Rows::kRowBytes + col * 2);
    if (bounds.HasRow(row + r) && (kInside || column + col < bounds.n))
      StorePiece<kVector, kInside>(c + (row + r) * ldc + column + col, piece, bounds.ColumnsFrom(column + col));
  }
}

// kRows rows of the tile, of a warp (16) or a warpgroup (64), in the panels that the copy engine stores from. The last one
// ends with the tile, so it may begin in the one before.
template <int kColumns, int kRows>
struct StoredPanels {
  static constexpr int kWidth = StoredWidth(kColumns), kCount = CeilDivide(kColumns, kWidth);
  static constexpr int kLastStart = kColumns - kWidth;
  static constexpr int kPanelBytes = kRows * kWidth * 2;
  static constexpr int kBytes = kCount * kPanelBytes;
};

// A warp's rows of the panels from kFirst to kEnd, `first_row` of the panels being its first.
template <class Type, int kColumns, int kRows, int kFirst, int kEnd>
GEMMSMITH_DEVICE void StageInPanels(const float (&sums)[kColumns / 2], int first_row, u32 staging) {
  using Panels = StoredPanels<kColumns, kRows>;
  const auto place = [&](int panel, int r, int col) {
    return staging + panel * Panels::kPanelBytes + SwizzledOffset<Panels::kWidth * 2>(first_row + r, col * 2);
  };
  constexpr bool kHasLast = kEnd == Panels::kCount;
  constexpr int kWhole = (kEnd - kFirst - (kHasLast ? 1 : 0)) * Panels::kWidth;
  if constexpr (kWhole > 0)
    StageSums<Type, kWhole, false>(sums + kFirst * Panels::kWidth / 2, [&](int r, int col) {
      return place(col / Panels::kWidth, r, col % Panels::kWidth);
    });
  if constexpr (kHasLast)
    StageSums<Type, Panels::kWidth, false>(sums + Panels::kLastStart / 2,
                                           [&](int r, int col) { return place(kEnd - 1 - kFirst, r, col); });
}

// ---- sums that are C transposed: a panel of C's lines, one for each column of the sums, 64 rows of the sums each ----

inline constexpr int kTransposedWidth = 64, kTransposedLineBytes = kTransposedWidth * 2;

// A warp's rows, `first_row` of the 64 being its first.
template <class Type, int kColumns>
GEMMSMITH_DEVICE void StageTransposed(const float (&sums)[kColumns / 2], int first_row, u32 staging) {
  StageSums<Type, kColumns, true>(sums, [&](int r, int col) {
    return staging + SwizzledOffset<kTransposedLineBytes>(col, (first_row + r) * 2);
  });
}

// kLines rows of C by the warpgroup that has staged them.
template <int kVector, int kLines, bool kInside>
GEMMSMITH_DEVICE void StoreTransposedLines(u16* c, i64 ldc, int row, int column, u32 staging,
                                           OutputBounds<kInside> bounds) {
  constexpr int kPieces = kTransposedWidth / 8;
#pragma unroll
  for (int first = 0; first < kLines * kPieces; first += 128) {
    const int i = first + threadIdx.x % 128;
    if (kLines * kPieces % 128 != 0 && i >= kLines * kPieces) break;
    const int r = i / kPieces, col = i % kPieces * 8;
    u32 piece[4];
    LoadStagedPiece(piece, staging + SwizzledOffset<kTransposedLineBytes>(r, col * 2));
    if (bounds.HasRow(row + r) && (kInside || column + col < bounds.n))
      StorePiece<kVector, kInside>(c + (row + r) * ldc + column + col, piece, bounds.ColumnsFrom(column + col));
  }
}

// The panels from kFirst to kEnd to boxes of C. By one thread, which then commits and waits (CommitStores,
// WaitForStoresBut).
template <int kColumns, int kRows, bool kLeavesL2First, int kFirst, int kEnd>
GEMMSMITH_DEVICE void StorePanels(const TensorMap& map, int row, int column, u32 staging) {
  using Panels = StoredPanels<kColumns, kRows>;
#pragma unroll
  for (int panel = kFirst; panel < kEnd; ++panel) {
    const int start = panel + 1 < Panels::kCount ? panel * Panels::kWidth : Panels::kLastStart;
    StoreBox<kLeavesL2First>(map, column + start, row, staging + (panel - kFirst) * Panels::kPanelBytes);
  }
}

}  // namespace gemmsmith
