// Epilogues of persistent `wgmma` kernels. A consumer warp constructs one and calls Store() for the tile of each visit,
// then Finish(). Staging lies behind the stages, so that the next tile's copies arrive meanwhile.
#pragma once

#include "epilogue_tile.cuh"

namespace gemmsmith {

// Without TMA, straight sums: each warp stores its rows.
template <class Config>
struct RowsEpilogue : TileEpilogue<Config> {
  using Base = TileEpilogue<Config>;
  using typename Base::Tile;
  const int warp;

  GEMMSMITH_DEVICE explicit RowsEpilogue(int warp_) : warp(warp_) {}

  GEMMSMITH_DEVICE void Store(const Tile& tile, const TileCoord& at, int teammate,
                              const typename Tile::Accumulators& accumulators) const {
    typename Tile::Sums sums;
    Base::WidenAll(accumulators, sums);
#pragma unroll
    for (int block = 0; block < Tile::kRowBlocks; ++block) {
      const int row = at.row + (teammate * Tile::kRowBlocks + block) * 64 + warp % 4 * 16;
      const int staged = warp * Config::kStagedBlocks + block % Config::kStagedBlocks;
      __syncwarp();
      Base::StoreRows(tile, row, at.column, sums[block], tile.Stage(Config::kStages) + staged * Tile::kStagedRowsBytes);
    }
  }
  GEMMSMITH_DEVICE void Finish() const {}
};

// A warpgroup stages a row block together; then one thread orders its stores by TMA. Swapped sums without TMA are
// staged alike and stored by the warpgroup.
template <class Config>
struct BoxesEpilogue : TileEpilogue<Config> {
  using Base = TileEpilogue<Config>;
  using typename Base::Tile;
  const int warp;
  const bool is_storer;  // the same thread every time, because it alone can wait for the stores that it ordered

  GEMMSMITH_DEVICE explicit BoxesEpilogue(int warp_)
      : warp(warp_), is_storer(Tile::kStoresByTma && warp_ % 4 == 0 && ElectLane()) {}

  GEMMSMITH_DEVICE void Store(const Tile& tile, const TileCoord& at, int teammate,
                              const typename Tile::Accumulators& accumulators) const {
    typename Tile::Sums sums;
    Base::WidenAll(accumulators, sums);
#pragma unroll
    for (int block = 0; block < Tile::kRowBlocks; ++block) {
      const int staged = warp / 4 * Config::kStagedBlocks + block % Config::kStagedBlocks;
      StoreBlock(tile, Base::CoordOfBlock(at, teammate * Tile::kRowBlocks + block),
                 tile.Stage(Config::kStages) + staged * 4 * Tile::kStagedRowsBytes, sums[block]);
    }
  }
  GEMMSMITH_DEVICE void StoreBlock(const Tile& tile, TileCoord at, u32 staging,
                                   const typename Base::BlockSums& sums) const {
    if (is_storer) WaitForStoresBut<Config::kStagedBlocks - 1>();
    MeetThreads<128>(Tile::kStoreBarrier + warp / 4);
    Base::StageBoxes(sums, warp % 4 * 16, staging);
    MeetThreads<128>(Tile::kStoreBarrier + warp / 4);
    if constexpr (!Tile::kStoresByTma) {
      Base::StoreBoxesAsRows(tile, at, staging);
    } else if (warp % 4 == 0 && ElectLane()) {
      Base::StoreBoxes(tile, at, staging);
      CommitStores();
    }
  }
  GEMMSMITH_DEVICE void Finish() const {
    if (is_storer) WaitForStoresBut<0>();
  }
};

// Staging has memory for one row block, which all warpgroups use in turn; this leaves room for another stage of
// 128x256. TMA must have read a block before the next warpgroup stages. A store warp waits for that, so that warpgroups
// multiply meanwhile.
template <class Config>
struct StoreWarpEpilogue : TileEpilogue<Config> {
  using Base = TileEpilogue<Config>;
  using typename Base::Tile;
  static constexpr int kBlocks = Config::kWarpgroups * Tile::kRowBlocks;  // of a tile
  static constexpr int kMeetingThreads = 128 + 32;                        // a warpgroup and the store warp
  const int warp;
  u32 staged_before = 0;  // by this warpgroup

  GEMMSMITH_DEVICE explicit StoreWarpEpilogue(int warp_) : warp(warp_) {}

  static GEMMSMITH_DEVICE u32 MayStage(const Tile& tile, int warpgroup) {
    return tile.shared + Tile::kStagingBarriers + 8 * warpgroup;
  }

  // Widens behind the wait: before it, f16 sums would take the registers of f32.
  GEMMSMITH_DEVICE void Store(const Tile& tile, const TileCoord&, int,
                              const typename Tile::Accumulators& accumulators) {
    const int warpgroup = warp / 4;
#pragma unroll
    for (int block = 0; block < Tile::kRowBlocks; ++block, ++staged_before) {
      // The first block of all finds the memory unused.
      if (warpgroup > 0)
        WaitFor(MayStage(tile, warpgroup), staged_before & 1);
      else if (staged_before > 0)
        WaitFor(MayStage(tile, warpgroup), (staged_before - 1) & 1);
      float sums[Tile::kSums];
      Widen(accumulators[block], sums);
      Base::StageBoxes(sums, warp % 4 * 16, tile.Stage(Config::kStages));
      ArriveAt<kMeetingThreads>(Tile::kStoreBarrier + warpgroup);
    }
  }
  GEMMSMITH_DEVICE void Finish() const {}

  // By the store warp: stores all blocks of a tile. Nothing is staged after the last block of the last tile.
  static GEMMSMITH_DEVICE void StoreStaged(const Tile& tile, const TileCoord& at, bool has_next_tile) {
#pragma unroll 1
    for (int block = 0; block < kBlocks; ++block) {
      const bool ends_tile = block + 1 == kBlocks;
      MeetThreads<kMeetingThreads>(Tile::kStoreBarrier + block / Tile::kRowBlocks);
      if (ElectLane()) {
        Base::StoreBoxes(tile, Base::CoordOfBlock(at, block), tile.Stage(Config::kStages));
        CommitStores();
        WaitForStoresBut<0>();
        if (!ends_tile || has_next_tile) Arrive(MayStage(tile, ends_tile ? 0 : (block + 1) / Tile::kRowBlocks));
      }
      __syncwarp();
    }
  }
};

}  // namespace gemmsmith
