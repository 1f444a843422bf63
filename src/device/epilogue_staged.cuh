// Stores the sums of wgmma to C through shared memory, so that accesses are wide; clipped at the edges of the matrix. A
// warp stages its 16 rows. Sums that are C transposed need a warpgroup, which stages 64 columns of C.
#pragma once

#include "epilogue.cuh"
#include "tma.cuh"

namespace gemmsmith {

// Stores one 16-byte piece of a row, or the part of it inside C.
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

// Stores matrices of 8 x 8 to shared memory; one register of all lanes holds a matrix. Lanes 0 to 7 give the addresses
// of the first one's rows, or, transposed, columns; the next 8 lanes those of the second one.
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

// Converts a warp's sums of wgmma (16 rows x kColumns) and stores them to shared memory. A piece is 8 columns of a row,
// or, transposed, 8 rows of a column; address_of(row, column) is where its first element goes.
template <class Type, int kColumns, bool kTransposed, class AddressOf>
GEMMSMITH_DEVICE void StageSums(const float* sums, AddressOf&& address_of) {
  const int lane = threadIdx.x % 32;
  const int row = kTransposed ? lane / 8 % 2 * 8 : lane % 16, in_matrix = kTransposed ? lane % 8 : 0;
#pragma unroll
  for (int column = 0; column + 16 <= kColumns; column += 16) {
    const float* q = sums + column / 2;
    StoreMatrices<kTransposed>(address_of(row, column + lane / 16 * 8 + in_matrix), Pack<Type>(q[0], q[1]),
                               Pack<Type>(q[2], q[3]), Pack<Type>(q[4], q[5]), Pack<Type>(q[6], q[7]));
  }
  if constexpr (kColumns % 16 != 0) {
    const float* q = sums + (kColumns - 8) / 2;
    StoreMatrices<kTransposed>(address_of(row, kColumns - 8 + in_matrix), Pack<Type>(q[0], q[1]),
                               Pack<Type>(q[2], q[3]));
  }
}

GEMMSMITH_DEVICE void LoadStagedPiece(u32 (&piece)[4], u32 from) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
               : "r"(from)
               : "memory");
}

// A warp's 16 rows: stages them, then stores whole rows of the tile.
template <class Type, int kVector, int kColumns, bool kInside>
GEMMSMITH_DEVICE void StoreThroughPaddedRows(u16* c, i64 ldc, int row, int column, const float (&sums)[kColumns / 2],
                                             u32 staging, OutputBounds<kInside> bounds) {
  constexpr int kRowBytes = PaddedRowBytes(kColumns);
  StageSums<Type, kColumns, false>(sums, [&](int r, int col) { return staging + r * kRowBytes + col * 2; });
  __syncwarp();
  constexpr int kPieces = kColumns / 8;
#pragma unroll
  for (int first = 0; first < 16 * kPieces; first += 32) {
    const int i = first + threadIdx.x % 32;
    if (16 * kPieces % 32 != 0 && i >= 16 * kPieces) break;
    const int r = i / kPieces, col = i % kPieces * 8;
    u32 piece[4];
    LoadStagedPiece(piece, staging + r * kRowBytes + col * 2);
    if (bounds.HasRow(row + r) && (kInside || column + col < bounds.n))
      StorePiece<kVector, kInside>(c + (row + r) * ldc + column + col, piece, bounds.ColumnsFrom(column + col));
  }
}

// kRows rows of the tile, a warp's (16) or a warpgroup's (64), in panels that TMA stores. The last panel ends with the
// tile, so it may overlap the one before.
template <int kColumns, int kRows>
struct StoredPanels {
  static constexpr int kWidth = StoredWidth(kColumns), kCount = StoredPanelCount(kColumns);
  static constexpr int kLastStart = kColumns - kWidth;
  static constexpr int kPanelBytes = kRows * kWidth * 2;
};

// A warp's 16 rows, from `first_row` of the panels on.
template <class Type, int kColumns, int kRows>
GEMMSMITH_DEVICE void StageInPanels(const float (&sums)[kColumns / 2], int first_row, u32 staging) {
  using Panels = StoredPanels<kColumns, kRows>;
  const auto address_of = [&](int panel, int r, int col) {
    return staging + panel * Panels::kPanelBytes + SwizzledOffset<Panels::kWidth * 2>(first_row + r, col * 2);
  };
  constexpr int kColumnsBeforeLast = (Panels::kCount - 1) * Panels::kWidth;
  if constexpr (kColumnsBeforeLast > 0)
    StageSums<Type, kColumnsBeforeLast, false>(
        sums, [&](int r, int col) { return address_of(col / Panels::kWidth, r, col % Panels::kWidth); });
  StageSums<Type, Panels::kWidth, false>(sums + Panels::kLastStart / 2,
                                         [&](int r, int col) { return address_of(Panels::kCount - 1, r, col); });
}

// Orders the stores of all panels. The calling thread then commits and waits (CommitStores, WaitForStoresBut).
template <int kColumns, int kRows, bool kEvictFirst>
GEMMSMITH_DEVICE void StorePanels(const TensorMap& map, int row, int column, u32 staging) {
  using Panels = StoredPanels<kColumns, kRows>;
#pragma unroll
  for (int panel = 0; panel < Panels::kCount; ++panel) {
    const int start = panel + 1 < Panels::kCount ? panel * Panels::kWidth : Panels::kLastStart;
    StoreBox<kEvictFirst>(map, column + start, row, staging + panel * Panels::kPanelBytes);
  }
}

// ---- sums that are C transposed: a panel with a line of C for each column of the sums, 64 rows of the sums wide ----

inline constexpr int kTransposedLineBytes = kTransposedWidth * 2;

// A warp's 16 rows, from `first_row` of the 64 on.
template <class Type, int kColumns>
GEMMSMITH_DEVICE void StageTransposed(const float (&sums)[kColumns / 2], int first_row, u32 staging) {
  StageSums<Type, kColumns, true>(
      sums, [&](int r, int col) { return staging + SwizzledOffset<kTransposedLineBytes>(col, (first_row + r) * 2); });
}

// The warpgroup stores the kLines rows of C that it has staged.
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

}  // namespace gemmsmith
