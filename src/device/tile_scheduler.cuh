// Tile schedulers: which tiles of C a CTA works on, and in which order. The raster runs along m, along n, or through
// groups of clusters along m. Clusters are whole: tiles outside C compute zeros and store nothing.
#pragma once

#include "wgmma_tile.cuh"

namespace gemmsmith {

// One tile a CTA, from its block index.
template <class Config>
struct OneTileScheduler {
  using Tile = WgmmaTile<Config>;
  struct Index {
    int row, column;  // in tiles
    GEMMSMITH_DEVICE TileCoord Coord() const { return {row * Tile::kTileM, column * Tile::kTileN}; }
  };

  static GEMMSMITH_DEVICE Index Find(const typename Tile::Arguments& arguments) {
    if constexpr (Config::kRaster == kAlongM) return {int(blockIdx.x), int(blockIdx.y)};
    if constexpr (Config::kRaster == kAlongN) return {int(blockIdx.y), int(blockIdx.x)};
    constexpr int kGroup = Max(Config::kRaster, 1);  // clusters
    const int rows = CeilDivide(CeilDivide(Tile::M::Value(arguments.gemm.m), Tile::kTileM), Config::kClusterM);
    const int columns = CeilDivide(CeilDivide(Tile::N::Value(arguments.gemm.n), Tile::kTileN), Config::kClusterN);
    const int cluster = blockIdx.x / Tile::kClusterSize, member = blockIdx.x % Tile::kClusterSize;
    const int group = cluster / (kGroup * columns), in_group = cluster % (kGroup * columns);
    const int group_rows = min(kGroup, rows - group * kGroup);
    return {(group * kGroup + in_group % group_rows) * Config::kClusterM + member % Config::kClusterM,
            in_group / group_rows * Config::kClusterN + member / Config::kClusterM};
  }
};

// Divides by a number that is known when the kernel starts, without the 30 instructions of an integer division.
struct Divisor {
  int value;
  float reciprocal;
  GEMMSMITH_DEVICE explicit Divisor(int value_) : value(value_) {
    asm("rcp.rz.f32 %0, %1;" : "=f"(reciprocal) : "f"(float(value_)));
  }
  // For 0 <= n < 2^23.
  GEMMSMITH_DEVICE int Divide(int n) const {
    const int quotient = int(float(n) * reciprocal);  // right, or one too few
    return quotient + ((quotient + 1) * value <= n ? 1 : 0);
  }
};

// The clusters of tiles of C in the order of the raster.
template <int kRaster>
struct TileOrder {
  int rows, columns;  // clusters
  Divisor group, last_group;

  GEMMSMITH_DEVICE TileOrder(int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        group(kRaster == kAlongM   ? rows_
              : kRaster == kAlongN ? columns_
                                   : kRaster * columns_),
        last_group(kRaster > 1 && rows_ % kRaster != 0 ? rows_ % kRaster : Max(kRaster, 1)) {}
  GEMMSMITH_DEVICE int count() const { return rows * columns; }
  GEMMSMITH_DEVICE void Find(int index, int& row, int& column) const {
    const int outer = group.Divide(index), inner = index - outer * group.value;
    if constexpr (kRaster == kAlongM) {
      row = inner, column = outer;
    } else if constexpr (kRaster == kAlongN) {
      row = outer, column = inner;
    } else {
      const bool is_last = (outer + 1) * kRaster > rows;
      column = is_last ? last_group.Divide(inner) : inner / kRaster;
      row = outer * kRaster + inner - column * (is_last ? last_group.value : kRaster);
    }
  }
};

// Persistent: of c clusters of CTAs, cluster i visits the clusters of tiles i, i + c, i + 2c, ... of the order.
template <class Config>
struct PersistentScheduler {
  using Tile = WgmmaTile<Config>;
  const TileOrder<Config::kRaster> order;
  const int first, stride;
  const int steps;      // of kStepK, a tile
  const int visits;     // tiles of this CTA
  const int all_steps;  // of all visits

  GEMMSMITH_DEVICE PersistentScheduler(const Tile& tile, int cluster)
      : order(CeilDivide(CeilDivide(Tile::M::Value(tile.arguments.gemm.m), Tile::kTileM), Config::kClusterM),
              CeilDivide(CeilDivide(Tile::N::Value(tile.arguments.gemm.n), Tile::kTileN), Config::kClusterN)),
        first(cluster),
        stride(int(gridDim.x) / Tile::kClusterSize),
        steps(CeilDivide(Tile::K::Value(tile.arguments.gemm.k), Tile::kStepK)),
        visits((order.count() - first + stride - 1) / stride),
        all_steps(visits * steps) {}

  GEMMSMITH_DEVICE TileCoord Coord(const Tile& tile, int visit) const {
    int row, column;
    order.Find(first + visit * stride, row, column);
    return {(row * Config::kClusterM + tile.member_m) * Tile::kTileM,
            (column * Config::kClusterN + tile.member_n) * Tile::kTileN};
  }
};

}  // namespace gemmsmith
