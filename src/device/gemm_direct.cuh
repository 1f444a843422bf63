// The `direct` family: global memory -> register fragments -> mma.sync, without staging in shared memory.
//
// A lane loads 8 neighbouring k of each of its rows; both operands map k onto the matrix instruction's slots in the
// same way, so a chunk of 32 k feeds two instructions without any shuffle. Columns are permuted likewise: the c-th
// column of the j-th instruction is column c * kColumns + j of the warp's tile, so that a lane ends with 2 * kColumns
// neighbouring sums of a row and stores them in wide accesses; and where B is row-major its loads are as wide.
//
// Config: Type, Sum, kRowMajorB, kTileM/N (of the CTA), kWarpsM/N (sharing the tile), kWarpsK (splitting K inside the CTA),
// kSplit and kReduction (splitting K over CTAs), kChunks (of 32 k in flight a warp), kTrigger, kLoadVector, kStoreVector
// (elements an access may hold), kFixedM/N/K and kFixedLdA/B/C (0: run time). Grid: m tiles, n tiles, splits.
#pragma once

#include "accumulators.cuh"
#include "epilogue.cuh"
#include "mma.cuh"
#include "ptx.cuh"
#include "reduce.cuh"
#include "stamps.cuh"

namespace gemmsmith {

template <class Config>
struct DirectKernel {
  using Type = typename Config::Type;
  static constexpr int kChunkK = 32;
  static constexpr int kWarpM = Config::kTileM / Config::kWarpsM, kWarpN = Config::kTileN / Config::kWarpsN;
  static constexpr int kRowBlocks = kWarpM / 16, kColumns = kWarpN / 8;
  static constexpr int kWarpsMn = Config::kWarpsM * Config::kWarpsN;
  static constexpr int kThreads = 32 * kWarpsMn * Config::kWarpsK;
  static constexpr int kVector = Config::kLoadVector;
  static constexpr int kColumnVector = Min(kVector, kColumns);  // of one load from a row-major B
  using Arguments = GemmArguments;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;
  static constexpr bool kInsideM = M::IsMultipleOf(Config::kTileM), kInsideN = N::IsMultipleOf(Config::kTileN);
  // Every warp of every split does the same whole number of rounds.
  static constexpr int kStepK = kChunkK * Config::kChunks, kRoundK = kStepK * Config::kWarpsK;
  static constexpr bool kEvenK = K::IsMultipleOf(kRoundK * Config::kSplit);

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
  // The lane's part of this warp's share of K: rounds of kChunks neighbouring chunks, dealt to the splits, then to the
  // warps. It begins at first_k, where the pointers stand; what is loaded is told by its distance from there.
  int first_k, share_k;  // share_k: to the end of the split, counted from the warp's first chunk
  const u16* a_rows[2 * kRowBlocks];
  const u16* b_columns[Config::kRowMajorB ? 1 : kColumns];
  int first_column;  // of this lane, in the matrix
  AccumulatorsOf<typename Config::Sum, 4> accumulators[kRowBlocks][kColumns];

  // The k, within a chunk and from first_k, of the lane's element e: runs of kVector neighbours, the four lanes of a
  // group side by side.
  static GEMMSMITH_DEVICE constexpr int OffsetOf(int e) { return e / kVector * (4 * kVector) + e % kVector; }

  GEMMSMITH_DEVICE void Start(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k) {
    m = M::Value(arguments.m), n = N::Value(arguments.n), k = K::Value(arguments.k);
    const i64 lda = Dimension<Config::kFixedLdA>::Value(arguments.lda);
    ldb = Dimension<Config::kFixedLdB>::Value(arguments.ldb);
    const int lane = threadIdx.x % 32;
    group = lane / 4, lane_k = lane % 4;
    const int rounds = CeilDivide(k, kRoundK), rounds_of_split = CeilDivide(rounds, Config::kSplit);
    const int warp_first_k = int(blockIdx.z) * rounds_of_split * kRoundK + warp_k * kStepK;
    share_k = min(k, (int(blockIdx.z) + 1) * rounds_of_split * kRoundK) - warp_first_k;
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
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (auto& zero : accumulators[i][j]) zero = 0;
  }

  // Not 0, and made of every pointer.
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

  // Eight k of one contiguous line; kWhole: the chunk, so far from the first one, lies inside k.
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

  // kColumns neighbouring columns of one row of a row-major B, `at` rows from the lane's first one; zeros behind the last.
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

  GEMMSMITH_DEVICE void Multiply(const ChunkA& chunk_a, const ChunkB& chunk_b) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < kRowBlocks; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const u32 a[4] = {chunk_a.pairs[2 * i][2 * half], chunk_a.pairs[2 * i + 1][2 * half],
                            chunk_a.pairs[2 * i][2 * half + 1], chunk_a.pairs[2 * i + 1][2 * half + 1]};
          const u32 b[2] = {chunk_b.pairs[j][2 * half], chunk_b.pairs[j][2 * half + 1]};
          Mma16816<Type>(accumulators[i][j], a, b);
        }
  }

  // The products of this warp's share of K.
  GEMMSMITH_DEVICE void AccumulateShare() {
    ChunkA a[Config::kChunks];
    ChunkB b[Config::kChunks];
    if constexpr (kEvenK) {
      constexpr int kRounds = Config::kFixedK / (kRoundK * Config::kSplit);
#pragma unroll 2
      for (int round = 0, at = 0; round < kRounds; ++round, at += kRoundK) {
#pragma unroll
        for (int u = 0; u < Config::kChunks; ++u) Load<true>(a[u], b[u], at + u * kChunkK);
#pragma unroll
        for (int u = 0; u < Config::kChunks; ++u) Multiply(a[u], b[u]);
      }
      return;
    }
    int at = 0;
    for (; at + kStepK <= share_k; at += kRoundK) {
#pragma unroll
      for (int u = 0; u < Config::kChunks; ++u) Load<true>(a[u], b[u], at + u * kChunkK);
#pragma unroll
      for (int u = 0; u < Config::kChunks; ++u) Multiply(a[u], b[u]);
    }
    // At most one step is cut by the end of k; no whole step follows it.
    for (; at < share_k; at += kChunkK) {
      Load<false>(a[0], b[0], at);
      Multiply(a[0], b[0]);
    }
  }

  // use(row, column, values) for each run of neighbouring sums of the CTA's tile that this thread holds.
  template <class Use>
  GEMMSMITH_DEVICE void ForEachSum(int warp_m, int warp_n, int warp_k, float* shared, Use&& use) const {
    const int row = warp_m * kWarpM + group, column = warp_n * kWarpN + lane_k * 2 * kColumns;
    if constexpr (Config::kWarpsK == 1) {
      ForEachHeldSum(row, column, use);
    } else {
      using Tile = SharedTile<Config::kTileM, Config::kTileN>;
      float* part = shared + warp_k * Tile::kFloats;
      ForEachHeldSum(row, column, [&](int r, int c, const float(&values)[2 * kColumns]) {
#pragma unroll
        for (int i = 0; i < 2 * kColumns; ++i) part[r * Tile::kRow + c + i] = values[i];
      });
      constexpr int kPiece = Min(8, Max(2, Config::kTileM * Config::kTileN / kThreads));
      ForEachSharedSum<Config::kTileM, Config::kTileN, Config::kWarpsK, kThreads, kPiece>(shared, use);
    }
  }

  template <class Use>
  GEMMSMITH_DEVICE void ForEachHeldSum(int row, int column, Use&& use) const {
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
      float values[2 * kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        float sums[4];
        Widen(accumulators[i / 2][j], sums);
        values[j] = sums[i % 2 * 2];
        values[kColumns + j] = sums[i % 2 * 2 + 1];
      }
      use(row + 8 * i, column, values);
    }
  }

  GEMMSMITH_DEVICE void Finish(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k,
                               float* shared) const {
    const i64 ldc = Dimension<Config::kFixedLdC>::Value(arguments.ldc);
    const int first_row = blockIdx.x * Config::kTileM, tile_column = blockIdx.y * Config::kTileN;
    const OutputBounds<kInsideM && kInsideN> bounds{m, n};
    const auto store = [&](int row, int column, const auto& values) {
      StoreRow<Type, Config::kStoreVector>(static_cast<u16*>(arguments.c), ldc, first_row + row, tile_column + column,
                                           values, bounds);
    };
    if constexpr (Config::kReduction == SplitReduction::kNone) {
      ForEachSum(warp_m, warp_n, warp_k, shared, store);
    } else {
      constexpr int kTile = Config::kTileM * Config::kTileN;
      constexpr bool kOrdered = Config::kReduction == SplitReduction::kOrdered;
      const u32 tile = blockIdx.y * gridDim.x + blockIdx.x;
      float* tile_sums = SplitSums(arguments.workspace, gridDim.x * gridDim.y) +
                         u64(tile) * (kOrdered ? Config::kSplit : 1) * kTile;
      ForEachSum(warp_m, warp_n, warp_k, shared, [&](int row, int column, const auto& values) {
        float* to = tile_sums + row * Config::kTileN + column;
        if constexpr (kOrdered)
          StoreToL2(to + blockIdx.z * kTile, values);
        else
          AddInL2(to, values);
      });
      __shared__ u32 arrivals;
      if (!IsLastArriver<Config::kSplit, kThreads>(static_cast<u32*>(arguments.workspace) + tile, &arrivals)) return;
      StoreTotals<kOrdered ? Config::kSplit : 1>(tile_sums, store);
    }
  }

  // The last arriver's work: every load is on its way before the first is waited for.
  template <int kSlots, class Store>
  GEMMSMITH_DEVICE void StoreTotals(float* slots, Store&& store) const {
    constexpr int kTile = Config::kTileM * Config::kTileN;
    constexpr int kPiece = Min(8, Max(2, kTile / kThreads)), kPieces = kTile / kPiece;
    constexpr int kRounds = CeilDivide(kPieces, kThreads);
    float totals[kRounds][kPiece];
    const float zeros[kPiece] = {};
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot)
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int piece = round * kThreads + threadIdx.x;
        if (kPieces % kThreads != 0 && piece >= kPieces) break;
        float values[kPiece];
        LoadFromL2(values, slots + slot * kTile + piece * kPiece);
#pragma unroll
        for (int i = 0; i < kPiece; ++i) totals[round][i] = slot == 0 ? values[i] : totals[round][i] + values[i];
      }
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int piece = round * kThreads + threadIdx.x;
      if (kPieces % kThreads != 0 && piece >= kPieces) break;
#pragma unroll
      for (int slot = 0; slot < kSlots; ++slot) StoreToL2(slots + slot * kTile + piece * kPiece, zeros);
      store(piece * kPiece / Config::kTileN, piece * kPiece % Config::kTileN, totals[round]);
    }
  }

  static GEMMSMITH_DEVICE void Run(const GemmArguments& arguments) {
    extern __shared__ float shared[];
    const int warp = threadIdx.x / 32;
    const int warp_k = warp % Config::kWarpsK, warp_mn = warp / Config::kWarpsK;
    const int warp_n = warp_mn % Config::kWarpsN, warp_m = warp_mn / Config::kWarpsN;
    Stamp(arguments, Moment::kStarted, threadIdx.x == 0);
    if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
    DirectKernel kernel;
    kernel.Start(arguments, warp_m, warp_n, warp_k);
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore(kernel.AllPointers());
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
    Stamp(arguments, Moment::kReady, threadIdx.x == 0);
    kernel.AccumulateShare();
    Stamp(arguments, Moment::kMultiplied, threadIdx.x == 0);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    kernel.Finish(arguments, warp_m, warp_n, warp_k, shared);
    Stamp(arguments, Moment::kStored, threadIdx.x == 0);
  }
};

}  // namespace gemmsmith
