// The `direct` family: global memory -> register fragments -> mma.sync, without staging in shared memory (sm_80).
//
// Config: Type, Sum, kRowMajorB, kTileM/N (of the CTA), kWarpsM/N (share the tile), kWarpsK (split K inside the CTA),
// kChunks (of 32 k in flight a warp), kTrigger, kLoadVector, kStoreVector (elements an access may hold), kFixedM/N/K
// and kFixedLdA/B/C (0: run time). Grid: m tiles, n tiles.
#pragma once

#include "accumulators.cuh"
#include "direct_operands.cuh"
#include "epilogue.cuh"
#include "mma.cuh"
#include "stamps.cuh"
#include "warp_reduction.cuh"

namespace gemmsmith {

template <class Config>
struct DirectKernel {
  using Type = typename Config::Type;
  using Arguments = GemmArguments;
  using Operands = DirectOperands<Config>;
  using ChunkA = typename Operands::ChunkA;
  using ChunkB = typename Operands::ChunkB;
  static constexpr int kThreads = DirectThreads(Config::kWarpsM, Config::kWarpsN, Config::kWarpsK);
  static constexpr int kRowBlocks = Operands::kRowBlocks, kColumns = Operands::kColumns;
  static constexpr int kChunkK = Operands::kChunkK, kStepK = Operands::kStepK, kRoundK = Operands::kRoundK;
  // Every warp has the same whole number of rounds.
  static constexpr bool kEvenK = Operands::K::IsMultipleOf(kRoundK);

  Operands operands;
  AccumulatorsOf<typename Config::Sum, 4> accumulators[kRowBlocks][kColumns];

  GEMMSMITH_DEVICE void Start(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k) {
    operands.Start(arguments, warp_m, warp_n, warp_k);
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (auto& zero : accumulators[i][j]) zero = 0;
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

  // kChunks neighbouring chunks from here on, all loads first.
  GEMMSMITH_DEVICE void MultiplyStep(ChunkA (&a)[Config::kChunks], ChunkB (&b)[Config::kChunks], int at) {
#pragma unroll
    for (int u = 0; u < Config::kChunks; ++u) operands.template Load<true>(a[u], b[u], at + u * kChunkK);
#pragma unroll
    for (int u = 0; u < Config::kChunks; ++u) Multiply(a[u], b[u]);
  }

  // This warp's share of K.
  GEMMSMITH_DEVICE void MultiplyShare() {
    ChunkA a[Config::kChunks];
    ChunkB b[Config::kChunks];
    if constexpr (kEvenK) {
      constexpr int kRounds = Config::kFixedK / kRoundK;
#pragma unroll 2
      for (int round = 0, at = 0; round < kRounds; ++round, at += kRoundK) MultiplyStep(a, b, at);
      return;
    }
    int at = 0;
    for (; at + kStepK <= operands.share_k; at += kRoundK) MultiplyStep(a, b, at);
    // The end of K cuts at most one step; no whole step follows it.
    for (; at < operands.share_k; at += kChunkK) {
      operands.template Load<false>(a[0], b[0], at);
      Multiply(a[0], b[0]);
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

  // Calls use(row, column, values) for each run of neighbouring sums of the CTA's tile that this thread holds, after
  // the warps that split K have reduced them.
  template <class Use>
  GEMMSMITH_DEVICE void ForEachSum(int warp_m, int warp_n, int warp_k, float* shared, Use&& use) const {
    const int row = warp_m * Operands::kWarpM + operands.group;
    const int column = warp_n * Operands::kWarpN + operands.lane_k * 2 * kColumns;
    if constexpr (Config::kWarpsK == 1) {
      ForEachHeldSum(row, column, use);
    } else {
      float* part = shared + warp_k * PartialTileFloats(Config::kTileM, Config::kTileN);
      ForEachHeldSum(row, column, [&](int r, int c, const float(&values)[2 * kColumns]) {
#pragma unroll
        for (int i = 0; i < 2 * kColumns; ++i) part[r * PartialTileRow(Config::kTileN) + c + i] = values[i];
      });
      constexpr int kPiece = Min(8, Max(2, Config::kTileM * Config::kTileN / kThreads));
      ForEachSharedSum<Config::kTileM, Config::kTileN, Config::kWarpsK, kThreads, kPiece>(shared, use);
    }
  }

  GEMMSMITH_DEVICE void Finish(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k,
                               float* shared) const {
    const i64 ldc = Dimension<Config::kFixedLdC>::Value(arguments.ldc);
    const int tile_row = blockIdx.x * Config::kTileM, tile_column = blockIdx.y * Config::kTileN;
    const OutputBounds<Operands::kInsideM && Operands::kInsideN> bounds{operands.m, operands.n};
    ForEachSum(warp_m, warp_n, warp_k, shared, [&](int row, int column, const auto& values) {
      StoreRow<Type, Config::kStoreVector>(static_cast<u16*>(arguments.c), ldc, tile_row + row, tile_column + column,
                                           values, bounds);
    });
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
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore(kernel.operands.AllPointers());
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
    Stamp(arguments, Moment::kReady, threadIdx.x == 0);
    kernel.MultiplyShare();
    Stamp(arguments, Moment::kMultiplied, threadIdx.x == 0);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    kernel.Finish(arguments, warp_m, warp_n, warp_k, shared);
    Stamp(arguments, Moment::kStored, threadIdx.x == 0);
  }
};

}  // namespace gemmsmith
