// The `wgmma` family's axes, typed: the Config of src/device/gemm_wgmma.cuh and gemm_persistent.cuh.
#pragma once

#include <cstdint>
#include <span>

#include "problem/gemm.h"
#include "program/plan.h"
#include "program/shared_axes.h"

namespace gemmsmith {

// The operand that gives the rows of the wgmma instruction: A, or B with C computed transposed.
enum class Roles { kStraight, kSwapped };
// How C is written: rows by the warps; boxes by TMA; boxes with an evict-first hint.
enum class Store { kRows, kTma, kTmaFirstOut };
// The operand whose copies carry an evict-first hint.
enum class Stream { kNone, kA, kB };
// The number of persistent CTAs: all that are resident, or no more than keep the number of waves.
enum class Ctas { kAll, kEven };

std::span<const Axis> WgmmaAxes();
// Indices of Plan::values, in the order of WgmmaAxes().
struct WgmmaAxis {
  enum Index : size_t {
    kTileM,
    kTileN,
    kRolesOfOperands,
    kSchedule,
    kWarpgroups,
    kStepK,
    kStages,
    kClusterM,
    kClusterN,
    kSplit,
    kReduction,
    kStore,
    kStream,
    kKeep,
    kTrigger,
    kRaster,
    kCtas,
    kFinish,
    kFixed,
    kPlace,
    kWalk,
    kKept,
    kCount
  };
};

struct WgmmaPlan {
  int tile_m, tile_n;  // of C, at a time
  Roles roles;
  Schedule schedule;
  int warpgroups;            // consumers
  int step_k;                // k of one stage
  int stages;                // of the ring; 0: the whole share of K is resident
  int cluster_m, cluster_n;  // CTAs that share copies; in a cluster of splits, tiles beside each other
  int split;                 // CTAs that split K of one tile
  SplitReduction reduction;
  Store store;
  Stream stream;
  Trigger trigger;
  int raster;  // a Raster, or groups of so many clusters along m
  Ctas ctas;
  bool staggers;  // warpgroups end a tile one after the other: one stores while the next one multiplies
  FixedDimensions fixed;

  explicit WgmmaPlan(const Plan& plan);

  bool even_waves() const { return is_persistent() && ctas == Ctas::kEven; }
  bool is_ring() const { return stages > 0; }
  bool is_swapped() const { return roles == Roles::kSwapped; }
  // The tile as wgmma computes it: rows in blocks of 64, columns by 8.
  int sum_rows() const { return is_swapped() ? tile_n : tile_m; }
  int sum_columns() const { return is_swapped() ? tile_m : tile_n; }
  bool stores_by_tma() const { return store != Store::kRows; }
  bool is_persistent() const { return schedule != Schedule::kOneTile; }
  int team() const { return Team(schedule, warpgroups); }  // warpgroups that share a tile

  // ---- clusters and splits ----
  int cluster_size() const { return cluster_m * cluster_n; }
  int CtasOfCluster() const { return cluster_size() * (splits_are_cluster() ? split : 1); }
  bool splits_are_cluster() const { return split > 1 && reduction == SplitReduction::kCluster; }
  bool splits_exchange() const { return split > 1 && reduction == SplitReduction::kExchange; }
  // Every split stores a share of the tile, instead of the last CTA the whole.
  bool stores_shares() const { return splits_are_cluster() || splits_exchange(); }
  // CTAs that copy for each other: B along m, A along n. In a cluster of splits each CTA copies for itself.
  int sharing_m() const { return splits_are_cluster() ? 1 : cluster_m; }
  int sharing_n() const { return splits_are_cluster() ? 1 : cluster_n; }
  bool shares_copies() const { return sharing_m() * sharing_n() > 1; }

  // ---- staggered epilogue ----
  // Steps at a tile's end that each warpgroup but the first one runs after the one before it; 0: no stagger.
  int StaggerSteps() const;
  // A warpgroup stages C while others still read the stages.
  bool stages_while_others_read() const { return staggers && split == 1; }

  // ---- threads and registers ----
  int consumers() const { return 128 * warpgroups; }
  int row_blocks() const { return sum_rows() / 64 / team(); }  // of 64 rows, a warpgroup
  int sums_per_thread() const { return row_blocks() * sum_columns() / 2; }
  // The producers, a whole warpgroup then, give registers to the consumers.
  bool MovesRegisters() const;
  int ProducerRegisters() const;
  int ConsumerRegisters() const;
  int threads() const;

  // ---- shared memory ----
  int StageBytes() const { return gemmsmith::StageBytes(tile_m, tile_n, step_k); }
  int StagedRowsBytes() const {  // of a warp's 16 rows in the epilogue
    return gemmsmith::StagedRowsBytes(is_swapped(), stores_by_tma(), sum_columns());
  }
  // Boxes of C: the columns that they cover, the width of a box, and the columns stored, overlaps counted twice.
  int BoxedColumns() const { return gemmsmith::BoxedColumns(is_swapped(), tile_n); }
  int BoxWidth() const { return StoredWidth(BoxedColumns()); }
  int ColumnsInBoxes() const { return StoredPanelCount(BoxedColumns()) * BoxWidth(); }
  // Row blocks that a warp of a persistent kernel can stage at once: all of its own, or one.
  int StagedBlocks() const;
  // Warpgroups that stagger stage in the memory of one block, one after the other, and a warp of its own stores.
  bool HasStoreWarp() const;
  int StagingBytes() const;
  // The epilogue reuses the stages' memory, because nothing is left beside it.
  bool StagingInStages(const Shape& shape) const;
  int64_t SmemBytes(const Shape& shape) const;

  // ---- the problem in tiles ----
  // The most and the fewest steps of a split.
  int Steps(const Shape& shape) const { return CeilDivide(CeilDivide(shape.k, step_k), split); }
  int FewestSteps(const Shape& shape) const { return CeilDivide(shape.k, step_k) / split; }
  int StagesHeld(const Shape& shape) const { return is_ring() ? stages : Steps(shape); }
  // Tiles along m and n, rounded up to whole clusters.
  int TilesM(const Shape& shape) const { return TilesAlong(shape.m, tile_m, cluster_m); }
  int TilesN(const Shape& shape) const { return TilesAlong(shape.n, tile_n, cluster_n); }
  int64_t Tiles(const Shape& shape) const { return int64_t(TilesM(shape)) * TilesN(shape); }
  // Rows of clusters that read a streamed B, or columns that read a streamed A; 0 without a stream.
  int StreamReaders(const Shape& shape) const;
};

}  // namespace gemmsmith
