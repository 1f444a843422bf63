// Facts that the parts of a `wgmma` kernel share (sm_90a): the tile and its sums, operands, layout of shared memory,
// named barriers, parameter block, and the CTA's rank in its cluster.
//
// The parts are structs of static functions that take the tile. Objects that hold a reference to it make the compiler
// order instructions differently, so that recorded times would no longer belong to the kernels.
//
// Coordinates are those of C. The sums have rows by 64 and columns by 8. With straight roles they are C's, rows from A
// and columns from B. With swapped roles the sums are C transposed, rows from B and columns from A.
#pragma once

#include "accumulators.cuh"
#include "epilogue.cuh"
#include "tma.cuh"

namespace gemmsmith {

// The first row and column of a tile, or of a part of it, in C.
struct TileCoord {
  int row, column;
};

template <class Config>
struct WgmmaTile {
  using Type = typename Config::Type;
  using Sum = typename Config::Sum;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;

  // Config members by the names that the device uses.
  static constexpr int kStaggerSteps = Config::kStaggerSteps;
  static constexpr bool kStoresByTma = Config::kStoresByTma;
  static constexpr bool kEvictsStoresFirst = Config::kEvictsStoresFirst;

  // ---- tile and sums ----

  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kStepK = Config::kStepK;
  static constexpr bool kSwapped = Config::kSwapped;
  static constexpr int kSumRows = kSwapped ? kTileN : kTileM, kSumColumns = kSwapped ? kTileM : kTileN;
  static constexpr int kTeam = Team(Config::kSchedule, Config::kWarpgroups);  // warpgroups that share a tile
  static constexpr int kTeams = Config::kWarpgroups / kTeam;
  static constexpr int kRowBlocks = kSumRows / 64 / kTeam;  // blocks of 64 rows of the sums, a warpgroup
  static constexpr int kSums = kSumColumns / 2;             // of a row block, a thread
  using Accumulators = AccumulatorsOf<Sum, kSums>[kRowBlocks];
  using Sums = float[kRowBlocks][kSums];
  // Whether no tile crosses an edge of C or lies outside: the grid consists of whole clusters.
  static constexpr bool kInside = M::IsMultipleOf(kTileM * Config::kClusterM * Config::kGroupM) &&
                                  N::IsMultipleOf(kTileN * Config::kClusterN * Config::kGroupN);

  // ---- operands: panels of 64 k with a line for each row of A or column of B; across k (a column-major A, a
  // row-major B) panels of rows or columns with a line for each k ----

  static constexpr int kClusterSize = Config::kClusterM * Config::kClusterN;
  // CTAs that copy for this one, itself included: those of its row and of its column in the cluster.
  static constexpr int kPeers = Config::kClusterM + Config::kClusterN - 1;
  template <bool kAcrossK, int kExtent, int kCopiers, int kDepth>
  using Staged =
      typename Conditional<kAcrossK,
                           StagedOperand<kExtent / PanelWidth(kExtent), kStepK, PanelWidth(kExtent), kCopiers, kDepth>,
                           StagedOperand<kStepK / 64, kExtent, 64, kCopiers, kDepth>>::Type;
  using A = Staged<Config::kColumnMajorA, kTileM, Config::kClusterN, Config::kDepthA>;
  using B = Staged<Config::kRowMajorB, kTileN, Config::kClusterM, Config::kDepthB>;

  // ---- shared memory and named barriers (0 is __syncthreads) ----

  static constexpr int kStageBytes = StageBytes(kTileM, kTileN, kStepK);
  static constexpr int kFullBarriers = 0, kEmptyBarriers = 8 * kMostStages;
  // Splits: the last CTA's arrival count, or the barrier that counts their sums.
  static constexpr int kSplitWord = 16 * kMostStages;
  static constexpr int kStagingBarriers = kSplitWord + 8;  // of each warpgroup
  static_assert(A::kBytes + B::kBytes == kStageBytes && kStagingBarriers + 8 * 4 <= kBarrierBytes);
  static constexpr int kStagedRowsBytes = StagedRowsBytes(kSwapped, kStoresByTma, kSumColumns);

  static constexpr bool kPersistent = Config::kSchedule != Schedule::kOneTile;
  static constexpr int kOrderBarrier = 1;  // ping-pong: a team's turn to multiply
  static constexpr int kStagesReadBarrier = 1;
  static constexpr int kStartBarrier = 1 + kTeams;
  static constexpr int kStoreBarrier = kPersistent ? 2 + kTeams : 2;  // of each warpgroup
  static constexpr int kStaggerBarrier = 8;                           // of each warpgroup but the first

  // ---- this CTA ----

  struct ArgumentsForRows {
    TensorMap a, b;
    GemmArguments gemm;
  };
  struct ArgumentsForBoxes {
    TensorMap a, b, c;
    GemmArguments gemm;
  };
  using Arguments = typename Conditional<kStoresByTma, ArgumentsForBoxes, ArgumentsForRows>::Type;

  const Arguments& arguments;
  const u32 shared;
  const int member_m, member_n;  // coordinates in the cluster

  GEMMSMITH_DEVICE WgmmaTile(const Arguments& arguments_, u32 shared_, int member_m_, int member_n_)
      : arguments(arguments_), shared(shared_), member_m(member_m_), member_n(member_n_) {}

  static GEMMSMITH_DEVICE int RankOf(int m, int n) {
    constexpr bool kAlongNFirst = !kPersistent && Config::kRaster == kAlongN;
    return kAlongNFirst ? n + m * Config::kClusterN : m + n * Config::kClusterM;
  }

  GEMMSMITH_DEVICE u32 Full(int stage) const { return shared + kFullBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Empty(int stage) const { return shared + kEmptyBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Stage(int stage) const { return shared + kBarrierBytes + stage * kStageBytes; }

  GEMMSMITH_DEVICE u16* C() const { return static_cast<u16*>(arguments.gemm.c); }
  GEMMSMITH_DEVICE i64 LdC() const { return Dimension<Config::kFixedLdC>::Value(arguments.gemm.ldc); }
  GEMMSMITH_DEVICE OutputBounds<kInside> Bounds() const {
    return {M::Value(arguments.gemm.m), N::Value(arguments.gemm.n)};
  }
};

}  // namespace gemmsmith
