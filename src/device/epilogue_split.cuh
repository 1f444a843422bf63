// Epilogues of `wgmma` kernels whose CTAs split K of a tile: Finish() combines the sums of the splits and stores C. One
// specialisation for each SplitReduction. The other functions are hooks of kCluster, empty elsewhere.
#pragma once

#include "cluster_exchange.cuh"
#include "epilogue_one_tile.cuh"
#include "slot_exchange.cuh"
#include "split_add.cuh"
#include "stamps.cuh"

namespace gemmsmith {

// Common to all reductions.
template <class Config>
struct SplitBase : OneTileEpilogue<Config> {
  using Base = OneTileEpilogue<Config>;
  using typename Base::Tile, typename Base::Index;
  using Sums = typename Tile::Sums;
  static constexpr int kCount = Tile::kRowBlocks * Tile::kSums;  // of a thread
  static constexpr int kStagingBytes = TileStagingBytes(Tile::kSumRows, Tile::kStagedRowsBytes);

  // In Start(): by the thread that initialises barriers, before and after it publishes them; then by all threads.
  static GEMMSMITH_DEVICE void InitSumsBarrier(const Tile&) {}
  static GEMMSMITH_DEVICE void ExpectSums(const Tile&) {}
  static GEMMSMITH_DEVICE void ArriveStarted() {}
  // By the producer warp before it exits.
  static GEMMSMITH_DEVICE void WaitBeforeExit() {}

  static GEMMSMITH_DEVICE float (&Flat(Sums& sums))[kCount] { return reinterpret_cast<float(&)[kCount]>(sums); }
  static GEMMSMITH_DEVICE u32 TileNumber() { return blockIdx.y * gridDim.x + blockIdx.x; }
  // The tile's sums in the workspace, or its first slot.
  static GEMMSMITH_DEVICE float* TileSums(const Tile& tile, int slots) {
    return SplitSums(tile.arguments.gemm.workspace, gridDim.x * gridDim.y) +
           u64(TileNumber()) * slots * (Tile::kTileM * Tile::kTileN);
  }
  // Two neighbouring sums, at a row and column of the tile's sums. Swapped sums are neighbours along a column of C.
  static GEMMSMITH_DEVICE void StorePair(const Tile& tile, const Index& index, int row, int column, float first,
                                         float second) {
    const TileCoord at = index.Coord();
    if constexpr (Tile::kSwapped) {
      StoreElement<typename Tile::Type>(tile.C(), tile.LdC(), at.row + column, at.column + row, first, tile.Bounds());
      StoreElement<typename Tile::Type>(tile.C(), tile.LdC(), at.row + column + 1, at.column + row, second,
                                        tile.Bounds());
    } else {
      const float pair[2] = {first, second};
      StoreRow<typename Tile::Type, Config::kStoreVector>(tile.C(), tile.LdC(), at.row + row, at.column + column, pair,
                                                          tile.Bounds());
    }
  }
};

template <class Config, SplitReduction kReduction = Config::kReduction>
struct SplitEpilogue;

template <class Config>
struct SplitEpilogue<Config, SplitReduction::kNone> : SplitBase<Config> {
  using Base = SplitBase<Config>;
  using typename Base::Tile, typename Base::Index, typename Base::Sums;

  static GEMMSMITH_DEVICE void Finish(const Tile& tile, const Index& index, int warp, Sums& sums) {
    Base::WaitForStages(warp / 4);
    Base::Store(tile, index, warp, sums);
  }
};

template <class Config>
struct SplitEpilogue<Config, SplitReduction::kAdd> : SplitBase<Config> {
  using Base = SplitBase<Config>;
  using typename Base::Tile, typename Base::Index, typename Base::Sums;

  // True in the CTA that has the totals. Its stages are read by then.
  static GEMMSMITH_DEVICE bool AddToWorkspace(const Tile& tile, Sums& sums) {
    const u32 number = Base::TileNumber();
    float* tile_sums = Base::TileSums(tile, 1);
    u32* counter = static_cast<u32*>(tile.arguments.gemm.workspace) + number;
    extern __shared__ __align__(1024) char memory[];
    return AddToTile<Config::kSplit, Base::kConsumers>(Base::Flat(sums), tile_sums, counter,
                                                       reinterpret_cast<u32*>(memory + Tile::kSplitWord));
  }
  static GEMMSMITH_DEVICE void Finish(const Tile& tile, const Index& index, int warp, Sums& sums) {
    if (!AddToWorkspace(tile, sums)) return;
    Stamp(tile.arguments.gemm, Moment::kMet, threadIdx.x == 0);
    Base::Store(tile, index, warp, sums);
  }
};

template <class Config>
struct SplitEpilogue<Config, SplitReduction::kExchange> : SplitBase<Config> {
  using Base = SplitBase<Config>;
  using typename Base::Tile, typename Base::Index, typename Base::Sums;
  using Exchange = SlotExchange<Config::kSplit, Base::kConsumers, Base::kCount / 4>;
  static constexpr int kStagingBytes = 0;

  static GEMMSMITH_DEVICE void Finish(const Tile& tile, const Index& index, int, Sums& sums) {
    float* slots = Base::TileSums(tile, Config::kSplit);
    const int rank = blockIdx.z, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    typename Exchange::Share mine;
    Exchange::SendAllBut(mine, slots, rank, Base::Flat(sums));
    Stamp(tile.arguments.gemm, Moment::kSent, threadIdx.x == 0);
    Exchange::Take(mine, slots, rank, [&](int quad, const float(&totals)[4]) {
      const int block = quad * 4 / Tile::kSums;
      const int row = (warp / 4 * Tile::kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4;
      const int column = quad * 4 % Tile::kSums * 2 + lane % 4 * 2;
      Base::StorePair(tile, index, row, column, totals[0], totals[1]);
      Base::StorePair(tile, index, row + 8, column, totals[2], totals[3]);
    });
  }
};

template <class Config>
struct SplitEpilogue<Config, SplitReduction::kCluster> : SplitBase<Config> {
  using Base = SplitBase<Config>;
  using typename Base::Tile, typename Base::Index, typename Base::Sums;
  using Exchange = ClusterExchange<Config::kSplit, Base::kConsumers, Base::kCount>;
  static constexpr int kStagingBytes = ClusterStagingBytes(Base::kCount, Config::kSplit, Base::kConsumers);
  // Sums may arrive while this CTA still multiplies.
  static constexpr bool kSendsBesideStages = !Config::kStagingInStages;
  static_assert(Tile::kClusterSize == 1, "CTAs of a cluster of splits copy for themselves");

  // Counts the bytes of this split's share that the others send.
  static GEMMSMITH_DEVICE u32 SumsBarrier(const Tile& tile) { return tile.shared + Tile::kSplitWord; }
  static GEMMSMITH_DEVICE void InitSumsBarrier(const Tile& tile) { InitBarrier(SumsBarrier(tile), 1); }
  static GEMMSMITH_DEVICE void ExpectSums(const Tile& tile) {
    ArriveExpecting(SumsBarrier(tile), Exchange::ExpectedBytes(blockIdx.z));
  }
  static GEMMSMITH_DEVICE void ArriveStarted() {
    if constexpr (kSendsBesideStages) ArriveAtCluster();
  }
  static GEMMSMITH_DEVICE void WaitBeforeExit() {
    if constexpr (kSendsBesideStages) WaitForCluster();  // an arrival needs its wait
  }

  static GEMMSMITH_DEVICE void Finish(const Tile& tile, const Index& index, int warp, Sums& sums) {
    constexpr int kPiece = Exchange::kPiece;
    const int split = blockIdx.z, lane = threadIdx.x % 32, my_rank = ThisRankInCluster();
    // All barriers are ready. Where sums land in stages, all copies have arrived there and all reads have ended.
    if constexpr (kSendsBesideStages)
      WaitForCluster();
    else
      MeetCluster();
    typename Exchange::Share mine;
    Exchange::SendAllBut(
        mine, Base::Staging(tile, 0), SumsBarrier(tile), split,
        [&](int other) { return my_rank + (other - split) * (Config::kGroupM * Config::kGroupN); }, Base::Flat(sums));
    Stamp(tile.arguments.gemm, Moment::kSent, threadIdx.x == 0);
    Exchange::Take(
        mine, Base::Staging(tile, 0), SumsBarrier(tile), split, [&](int piece, const float(&totals)[kPiece]) {
#pragma unroll
          for (int i = 0; i < kPiece; i += 2) {
            const int sum = piece * kPiece + i, block = sum / Tile::kSums;
            const int row = (warp / 4 * Tile::kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4 + sum / 2 % 2 * 8;
            const int column = sum % Tile::kSums / 4 * 8 + lane % 4 * 2;
            Base::StorePair(tile, index, row, column, totals[i], totals[i + 1]);
          }
        });
  }
};

}  // namespace gemmsmith
