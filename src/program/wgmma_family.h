// The `wgmma` family on the host: its parameters, typed; mirrors src/device/gemm_wgmma.cuh and gemm_persistent.cuh.
#pragma once

#include <string>

#include "program/axes.h"
#include "program/launch.h"
#include "program/plan.h"
#include "program/reasons.h"

namespace gemmsmith {

// How C is written: whole rows by the warps; boxes by the copy engine; boxes that are the first to leave L2.
enum class Store { kRows, kBoxes, kBoxesFirstOut };

// Whose copies are the first to leave L2.
enum class Stream { kNone, kA, kB };
// In which order kernels come to what they multiply: every tile from its first k on; every other turn of a persistent
// CTA from its end; or every other launch.
enum class Walk { kOnward, kBackAndForth, kAlternating };
// How many persistent CTAs there are: all that fit; no more than make as many turns; or all, which share what whole
// turns leave over.
enum class Ctas { kAll, kEven, kShared };
inline constexpr int kCoarsePeriod = 16, kKeepPeriod = 64;  // device/wgmma_tile.cuh has them too
// Of streamed operands of so many bytes L2 fetches 128 at once, of all others 256. Of twelve kernels three with 403 to
// 537 MB took 0.97 of the time and a fourth 0.99, four with 134 to 268 MB 0.99 to 1.00, the others, with 67 to 134 MB,
// 1.00 to 1.01 (H200, November 2026; docs/lab/latency.md). device/launch_tile.cuh has it too.
inline constexpr double kLongStreamBytes = 200e6;

// Whether place=near comes into question. Taking a place costs about a microsecond, and what it saves is power, which
// only long calls are short of.
bool SavesPowerByPlace(const Shape& shape);

struct WgmmaPlan {
  int tile_m, tile_n;  // of C, at a time
  Roles roles;
  Schedule schedule;
  int warpgroups;            // that consume
  int step_k;                // k that one stage holds
  int stages;                // of the ring; 0: the whole share of K is resident
  int cluster_m, cluster_n;  // CTAs that share copies, or, where splits are a cluster, tiles that stand in it
  int split;                 // splitting K over CTAs
  SplitReduction reduction;  // any but kOrdered
  Store store;
  Stream stream;
  int keep;  // of kKeepPeriod steps of K, or lines, so many of the streamed operand stay in L2
  Trigger trigger;
  int raster;  // 0: along m, 1: along n, else groups of so many clusters along m
  Ctas ctas;
  bool ends_in_turn;  // the warpgroups of a tile: one stores while the next one multiplies
  FixedDimensions fixed;
  bool is_placed;  // tiles by where multiprocessors stand
  Walk walk;
  bool keeps_lines;  // what stays is chosen by L2, line by line, instead of step by step

  explicit WgmmaPlan(const Plan& plan);
  bool turns_back() const { return walk == Walk::kBackAndForth; }
  bool alternates() const { return walk == Walk::kAlternating; }
  bool even_turns() const { return ctas == Ctas::kEven; }
  bool shares_rest() const { return ctas == Ctas::kShared; }
  bool is_ring() const { return stages > 0; }
  bool is_swapped() const { return roles == Roles::kSwapped; }
  // Of the tile as wgmma computes it: rows in blocks of 64, columns by 8.
  int sum_rows() const { return is_swapped() ? tile_n : tile_m; }
  int sum_columns() const { return is_swapped() ? tile_m : tile_n; }
  bool store_by_copy_engine() const { return store != Store::kRows; }
  bool is_persistent() const { return schedule != Schedule::kOneTile; }
  bool is_unaided() const { return schedule == Schedule::kUnaided; }
  // Warpgroups that share a tile.
  int team() const { return schedule == Schedule::kPingPong ? 1 : warpgroups; }
  int cluster_size() const { return cluster_m * cluster_n; }
  int CtasOfCluster() const { return cluster_size() * (splits_are_cluster() ? split : 1); }
  bool splits_are_cluster() const { return split > 1 && reduction == SplitReduction::kCluster; }
  // CTAs that copy for each other, B along m and A along n; in a cluster of splits each copies for itself.
  int sharing_m() const { return splits_are_cluster() ? 1 : cluster_m; }
  int sharing_n() const { return splits_are_cluster() ? 1 : cluster_n; }
  bool shares_copies() const { return sharing_m() * sharing_n() > 1; }
  bool splits_exchange() const { return split > 1 && reduction == SplitReduction::kExchange; }
  // Whether every split stores a share of the tile, instead of the last arriver the whole.
  bool stores_shares() const { return splits_are_cluster() || splits_exchange(); }
  // Steps at a tile's end that each warpgroup but the first keeps until its turn; 0: all end together.
  int TurnSteps() const;
  // Whether a warpgroup stages C while others still read the stages.
  bool stages_in_turn() const { return ends_in_turn && split == 1; }
  int consumers() const { return 128 * warpgroups; }
  // Blocks of 64 rows of a warpgroup.
  int row_blocks() const { return sum_rows() / 64 / team(); }
  int sums_per_thread() const { return row_blocks() * sum_columns() / 2; }
  // Whether the producers, a whole warpgroup then, give registers to the consumers.
  bool MovesRegisters() const;
  int ProducerRegisters() const;
  int ConsumerRegisters() const;
  int threads() const {
    return consumers() + (is_unaided() ? 0 : MovesRegisters() ? 128 : SharesStaging() ? 64 : is_ring() ? 32 : 0);
  }
  int StageBytes() const { return (tile_m + tile_n) * step_k * 2; }
  // What a warp's 16 rows take in the epilogue.
  int StagedRowsBytes() const;
  // What boxes of the copy engine's store cover side by side; they are so wide, and bring so many columns with what
  // they have in common.
  int BoxedColumns() const { return is_swapped() ? 64 : tile_n; }
  int BoxWidth() const;
  int ColumnsInBoxes() const;
  // Of the panels of a row block those that are staged at a time: all, or, unaided, as many as there is room for.
  int StagedPanels() const;
  // Blocks of 64 rows that a warp of a persistent kernel has room for in the epilogue: all of its own, or one.
  int StagedBlocks() const;
  // Where there is no room for even one of each warpgroup, and they end in turn: all stage in the memory of one block,
  // one after the other, and a warp of its own stores.
  bool SharesStaging() const;
  int StagingBytes() const;
  // How many rows of clusters read a streamed B, or columns a streamed A; 0 where nothing is streamed.
  int StreamReaders(const Shape& shape) const;
  double StreamedBytes(const Shape& shape) const;
  double KeptBytes(const Shape& shape) const;  // of these
  bool KeepsWholeSixteenths() const { return keep % (kKeepPeriod / kCoarsePeriod) == 0; }
  int KeptSixteenths() const { return keep / (kKeepPeriod / kCoarsePeriod); }
  // Of a split: the most and the fewest.
  int Steps(const Shape& shape) const { return CeilDivide(CeilDivide(shape.k, step_k), split); }
  int FewestSteps(const Shape& shape) const { return CeilDivide(shape.k, step_k) / split; }
  int StagesHeld(const Shape& shape) const { return is_ring() ? stages : Steps(shape); }
  // Whether the epilogue reuses the stages' memory, because there is none beside it. Where warpgroups end in turn, only
  // the last one may.
  bool StagingInStages(const Shape& shape) const;
  int64_t SmemBytes(const Shape& shape) const;
  // CTAs along m and n, whole clusters.
  int TilesM(const Shape& shape) const { return CeilDivide(CeilDivide(shape.m, tile_m), cluster_m) * cluster_m; }
  int TilesN(const Shape& shape) const { return CeilDivide(CeilDivide(shape.n, tile_n), cluster_n) * cluster_n; }
};

const Family& WgmmaFamily();
void CheckWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons);
Launch LaunchWgmma(const WgmmaPlan& plan, const Gemm& gemm);
// "struct Config { ... };" for the device template.
std::string WgmmaConfigText(const WgmmaPlan& plan, const Gemm& gemm);

}  // namespace gemmsmith
