// Epilogue of `wgmma` kernels, parts of both schedules: staging and stores of one row block of a tile, which begins at
// a given coordinate.
#pragma once

#include "epilogue_staged.cuh"
#include "wgmma_tile.cuh"

namespace gemmsmith {

template <class Config>
struct TileEpilogue {
  using Tile = WgmmaTile<Config>;
  using BlockSums = float[Tile::kSums];
  static constexpr int kBoxRows = BoxRows(Tile::kSwapped, Config::kSchedule, Tile::kTileM);
  static constexpr int kBoxedColumns = BoxedColumns(Tile::kSwapped, Tile::kTileN);

  // The part of C that a block of 64 rows of the sums covers.
  static GEMMSMITH_DEVICE TileCoord CoordOfBlock(const TileCoord& at, int block) {
    return Tile::kSwapped ? TileCoord{at.row, at.column + block * 64} : TileCoord{at.row + block * 64, at.column};
  }
  static GEMMSMITH_DEVICE void WidenAll(const typename Tile::Accumulators& accumulators, typename Tile::Sums& sums) {
#pragma unroll
    for (int block = 0; block < Tile::kRowBlocks; ++block) Widen(accumulators[block], sums[block]);
  }

  // A warp's 16 rows of straight sums, without TMA.
  static GEMMSMITH_DEVICE void StoreRows(const Tile& tile, int row, int column, const BlockSums& sums, u32 staging) {
    StoreThroughPaddedRows<typename Tile::Type, Config::kStoreVector, Tile::kTileN>(tile.C(), tile.LdC(), row, column,
                                                                                    sums, staging, tile.Bounds());
  }

  // A warp's 16 rows, from `first_row` of the staging on. Stores follow a barrier of the warps that stage together.
  static GEMMSMITH_DEVICE void StageBoxes(const BlockSums& sums, int first_row, u32 staging) {
    if constexpr (Tile::kSwapped)
      StageTransposed<typename Tile::Type, Tile::kSumColumns>(sums, first_row, staging);
    else
      StageInPanels<typename Tile::Type, Tile::kTileN, kBoxRows>(sums, first_row, staging);
    if constexpr (Tile::kStoresByTma) PublishToTma();
  }
  // By one thread, which then commits.
  static GEMMSMITH_DEVICE void StoreBoxes(const Tile& tile, const TileCoord& at, u32 staging) {
    StorePanels<kBoxedColumns, kBoxRows, Tile::kEvictsStoresFirst>(tile.arguments.c, at.row, at.column, staging);
  }
  // By a warpgroup, where TMA cannot store what StageBoxes() staged.
  static GEMMSMITH_DEVICE void StoreBoxesAsRows(const Tile& tile, const TileCoord& at, u32 staging) {
    static_assert(Tile::kSwapped, "straight sums are staged otherwise");
    StoreTransposedLines<Config::kStoreVector, Tile::kTileM>(tile.C(), tile.LdC(), at.row, at.column, staging,
                                                             tile.Bounds());
  }
};

}  // namespace gemmsmith
