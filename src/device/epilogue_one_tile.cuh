// Epilogue of `wgmma` kernels with one tile a CTA, without splits: each warp, or each warpgroup of swapped sums, stages
// its part of the tile and stores it.
#pragma once

#include "epilogue_tile.cuh"
#include "tile_scheduler.cuh"

namespace gemmsmith {

template <class Config>
struct OneTileEpilogue : TileEpilogue<Config> {
  using Base = TileEpilogue<Config>;
  using typename Base::Tile;
  using Index = typename OneTileScheduler<Config>::Index;
  static constexpr int kConsumers = 128 * Config::kWarpgroups;
  static constexpr int kRowBlocks = Tile::kRowBlocks;
  // With a staggered epilogue warpgroups stage while others still read the stages. Then only the last one may stage
  // there.
  static constexpr bool kStaggersStaging = Tile::kStaggerSteps > 0 && Config::kSplit == 1;

  static GEMMSMITH_DEVICE bool IsLast(int warpgroup) { return warpgroup + 1 == Config::kWarpgroups; }
  // Staging of the tile, for this warpgroup's part. The address is the same in every split, though their steps may
  // differ by one, because splits of a cluster write to each other's.
  static GEMMSMITH_DEVICE u32 Staging(const Tile& tile, int warpgroup) {
    if (Config::kStagingInStages && (!kStaggersStaging || IsLast(warpgroup))) return tile.Stage(0);
    if constexpr (Config::kStages > 0) return tile.Stage(Config::kStages);
    return tile.Stage(CeilDivide(CeilDivide(Tile::K::Value(tile.arguments.gemm.k), Tile::kStepK), Config::kSplit));
  }

  // Waits until no warpgroup reads the stages any more, where the tile is staged there.
  static GEMMSMITH_DEVICE void WaitForStages(int warpgroup) {
    if constexpr (Config::kStagingInStages) {
      if (kStaggersStaging && !IsLast(warpgroup))
        ArriveAt<kConsumers>(Tile::kStagesReadBarrier);
      else
        MeetThreads<kConsumers>(Tile::kStagesReadBarrier);
    }
  }

  static GEMMSMITH_DEVICE void Store(const Tile& tile, const Index& index, int warp, const typename Tile::Sums& sums) {
    if constexpr (Tile::kSwapped)
      StoreByWarpgroup(tile, index, warp, sums);
    else
      StoreByWarp(tile, index, warp, sums);
  }

  static GEMMSMITH_DEVICE void StoreByWarp(const Tile& tile, const Index& index, int warp,
                                           const typename Tile::Sums& sums) {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row_in_tile = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16;
      const int row = index.row * Tile::kTileM + row_in_tile, column = index.column * Tile::kTileN;
      const u32 staging = Staging(tile, warp / 4) + row_in_tile / 16 * Tile::kStagedRowsBytes;
      if constexpr (Tile::kStoresByTma) {
        Base::StageBoxes(sums[block], 0, staging);
        __syncwarp();
        if (ElectLane()) Base::StoreBoxes(tile, {row, column}, staging);
      } else {
        Base::StoreRows(tile, row, column, sums[block], staging);
      }
    }
    if (Tile::kStoresByTma && ElectLane()) {
      CommitStores();
      WaitForStoresBut<0>();
    }
  }

  // A row of C has elements from all warps of the warpgroup.
  static GEMMSMITH_DEVICE void StoreByWarpgroup(const Tile& tile, const Index& index, int warp,
                                                const typename Tile::Sums& sums) {
    const int warpgroup = warp / 4;
    const auto staging = [&](int block) {
      return Staging(tile, warpgroup) + (warpgroup * kRowBlocks + block) * 4 * Tile::kStagedRowsBytes;
    };
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) Base::StageBoxes(sums[block], warp % 4 * 16, staging(block));
    MeetThreads<128>(Tile::kStoreBarrier + warpgroup);
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const TileCoord at = Base::CoordOfBlock(index.Coord(), warpgroup * kRowBlocks + block);
      if constexpr (!Tile::kStoresByTma)
        Base::StoreBoxesAsRows(tile, at, staging(block));
      else if (warp % 4 == 0 && ElectLane())
        Base::StoreBoxes(tile, at, staging(block));
    }
    if (Tile::kStoresByTma && warp % 4 == 0 && ElectLane()) {
      CommitStores();
      WaitForStoresBut<0>();
    }
  }
};

}  // namespace gemmsmith
