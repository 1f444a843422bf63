// Operands of the `direct` family: which k, rows and columns a lane holds, and their loads from global memory.
//
// A lane loads 8 neighbouring k of each of its rows. Both operands map k onto the slots of mma.sync in the same way, so
// a chunk of 32 k feeds two instructions without a shuffle. Columns are permuted likewise: column c of instruction j is
// column c * kColumns + j of the warp's tile. So loads from a row-major B are wide, and so are the stores of C.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

template <class Config>
struct DirectOperands {
  static constexpr int kChunkK = kDirectChunkK;
  static constexpr int kWarpM = Config::kTileM / Config::kWarpsM, kWarpN = Config::kTileN / Config::kWarpsN;
  static constexpr int kRowBlocks = kWarpM / 16, kColumns = kWarpN / 8;
  static constexpr int kVector = Config::kLoadVector;
  static constexpr int kColumnVector = Min(kVector, kColumns);  // of one load from a row-major B
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;
  static constexpr bool kInsideM = M::IsMultipleOf(Config::kTileM), kInsideN = N::IsMultipleOf(Config::kTileN);
  static constexpr int kStepK = kChunkK * Config::kChunks, kRoundK = kStepK * Config::kWarpsK;

  // The 8 k of one row, or 8 rows of k of kColumns columns, that a lane holds of a chunk.
  struct ChunkA {
    u32 pairs[2 * kRowBlocks][4];
  };
  struct ChunkB {
    u32 pairs[kColumns][4];
  };

  int m, n, k;
  i64 ldb;
  int group, lane_k;  // g and t of mma.cuh
  // Warps that split K take steps of kStepK in turn. The lane's part begins at first_k, where the pointers point; loads
  // give their distance from there. share_k: from the warp's first chunk to the end of K.
  int first_k, share_k;
  const u16* a_rows[2 * kRowBlocks];
  const u16* b_columns[Config::kRowMajorB ? 1 : kColumns];
  int first_column;  // of this lane, in the matrix

  // The k of the lane's element e in a chunk, from first_k: runs of kVector neighbours, the four lanes of a group side
  // by side.
  static GEMMSMITH_DEVICE constexpr int OffsetOf(int e) { return e / kVector * (4 * kVector) + e % kVector; }

  GEMMSMITH_DEVICE void Start(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k) {
    m = M::Value(arguments.m), n = N::Value(arguments.n), k = K::Value(arguments.k);
    const i64 lda = Dimension<Config::kFixedLdA>::Value(arguments.lda);
    ldb = Dimension<Config::kFixedLdB>::Value(arguments.ldb);
    const int lane = threadIdx.x % 32;
    group = lane / 4, lane_k = lane % 4;
    // The grid's z is 1. The kernels that were searched and timed read it, so this reads it too.
    const int rounds = CeilDivide(k, kRoundK), z = int(blockIdx.z);
    const int warp_first_k = z * rounds * kRoundK + warp_k * kStepK;
    share_k = min(k, (z + 1) * rounds * kRoundK) - warp_first_k;
    first_k = warp_first_k + lane_k * kVector;
    const u16* a = static_cast<const u16*>(arguments.a) + first_k;
    const u16* b = static_cast<const u16*>(arguments.b);
    const int first_row = blockIdx.x * Config::kTileM + warp_m * kWarpM + group;
    // Rows and columns outside are read as the last one inside; their sums are never stored.
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
      const int row = first_row + 8 * i;
      a_rows[i] = a + (kInsideM ? row : min(row, m - 1)) * lda;
    }
    first_column = blockIdx.y * Config::kTileN + warp_n * kWarpN + group * kColumns;
    if constexpr (Config::kRowMajorB) {
      b_columns[0] = b + first_k * ldb + first_column;
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        b_columns[j] = b + (kInsideN ? first_column + j : min(first_column + j, n - 1)) * ldb + first_k;
    }
  }

  // Not 0, and computed from every pointer.
  GEMMSMITH_DEVICE u64 AllPointers() const {
    u64 all = 0;
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) all |= reinterpret_cast<u64>(a_rows[i]);
#pragma unroll
    for (int j = 0; j < (Config::kRowMajorB ? 1 : kColumns); ++j) all |= reinterpret_cast<u64>(b_columns[j]);
    return all;
  }

  template <int kCount>
  static GEMMSMITH_DEVICE void LoadElements(u32 (&to)[(kCount + 1) / 2], const u16* from) {
    gemmsmith::Load<kCount, Config::kTrigger == Trigger::kNone>(to, from);
  }

  // Eight k of one contiguous line. kWhole: the chunk at this distance from first_k lies inside K.
  template <bool kWhole>
  GEMMSMITH_DEVICE void LoadLine(u32 (&pairs)[4], const u16* line, int chunk) const {
#pragma unroll
    for (int e = 0; e < 8; e += kVector) {
      const int at = chunk + OffsetOf(e);
      u32 part[(kVector + 1) / 2];
      if (kWhole || first_k + at + kVector <= k) {
        LoadElements<kVector>(part, line + at);
      } else {
#pragma unroll
        for (int r = 0; r < (kVector + 1) / 2; ++r) part[r] = 0;
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          u32 element[1] = {0};
          if (first_k + at + i < k) LoadElements<1>(element, line + at + i);
          part[i / 2] |= element[0] << (i % 2 * 16);
        }
      }
      if constexpr (kVector == 1) {
        pairs[e / 2] = e % 2 == 0 ? part[0] : pairs[e / 2] | part[0] << 16;
      } else {
#pragma unroll
        for (int r = 0; r < kVector / 2; ++r) pairs[e / 2 + r] = part[r];
      }
    }
  }

  // kColumns neighbouring columns of one row of a row-major B, `at` rows from the lane's first row; zeros behind the
  // last.
  template <bool kWhole>
  GEMMSMITH_DEVICE void LoadRowOfB(u32 (&packed)[(kColumns + 1) / 2], int at) const {
    const u16* line = b_columns[0] + at * ldb;
    const bool inside_k = kWhole || first_k + at < k;
#pragma unroll
    for (int j = 0; j < kColumns; j += kColumnVector) {
      u32 part[(kColumnVector + 1) / 2];
#pragma unroll
      for (int r = 0; r < (kColumnVector + 1) / 2; ++r) part[r] = 0;
      if (inside_k && (kInsideN || first_column + j + kColumnVector <= n)) {
        LoadElements<kColumnVector>(part, line + j);
      } else if (inside_k) {
#pragma unroll
        for (int i = 0; i < kColumnVector; ++i) {
          u32 element[1] = {0};
          if (first_column + j + i < n) LoadElements<1>(element, line + j + i);
          part[i / 2] |= element[0] << (i % 2 * 16);
        }
      }
      if constexpr (kColumnVector == 1) {
        packed[j / 2] = j % 2 == 0 ? part[0] : packed[j / 2] | part[0] << 16;
      } else {
#pragma unroll
        for (int r = 0; r < kColumnVector / 2; ++r) packed[j / 2 + r] = part[r];
      }
    }
  }

  template <bool kWhole>
  GEMMSMITH_DEVICE void Load(ChunkA& chunk_a, ChunkB& chunk_b, int chunk) const {
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) LoadLine<kWhole>(chunk_a.pairs[i], a_rows[i], chunk);
    if constexpr (Config::kRowMajorB) {
      u32 rows[8][(kColumns + 1) / 2];
#pragma unroll
      for (int e = 0; e < 8; ++e) LoadRowOfB<kWhole>(rows[e], chunk + OffsetOf(e));
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int p = 0; p < 4; ++p)
          chunk_b.pairs[j][p] = j % 2 == 0 ? LowHalves(rows[2 * p][j / 2], rows[2 * p + 1][j / 2])
                                           : HighHalves(rows[2 * p][j / 2], rows[2 * p + 1][j / 2]);
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) LoadLine<kWhole>(chunk_b.pairs[j], b_columns[j], chunk);
    }
  }
};

}  // namespace gemmsmith
