// What follows from a plan: registers, turns, staging, shared memory, and what it streams.
#include <algorithm>

#include "program/wgmma_family.h"
#include "program/wgmma_operands.h"
#include "program/wgmma_registers.h"

namespace gemmsmith {

namespace {

// The memory that the device headers divide up: barriers, stages, staging of the epilogue.
constexpr int kBarrierBytes = 1024;
constexpr int kHopperSmemBytes = 232448;
// Ending in turn: k that one warpgroup multiplies alone in about the time in which another one stores its rows of C.
// For 64 x 256 of them 0.8 us at 1.9 GHz, against 0.7 us; both shrink with the columns.
constexpr int kTurnK = 192;

// Of C's panels, which may overlap; StoredWidth() of src/device/tma.cuh.
int StoredWidth(int columns) {
  if (columns < 64 || columns % 32 == 0) return PanelWidth(columns);
  return CeilDivide(columns, 64) * 64 * 4 <= columns * 5 ? 64 : 32;
}

// So many blocks of 64 rows beside the stages of a persistent kernel.
bool HasRoomToStage(const WgmmaPlan& plan, int blocks, int rows_bytes) {
  const int64_t staged_bytes = int64_t(blocks) * 4 * rows_bytes;
  return kBarrierBytes + int64_t(plan.stages) * plan.StageBytes() + staged_bytes <= kHopperSmemBytes;
}
bool HasRoomToStage(const WgmmaPlan& plan, int blocks) { return HasRoomToStage(plan, blocks, plan.StagedRowsBytes()); }

}  // namespace

int WgmmaPlan::StreamReaders(const Shape& shape) const {
  if (stream == Stream::kNone) return 0;
  return stream == Stream::kA ? CeilDivide(CeilDivide(shape.n, tile_n), sharing_n())
                              : CeilDivide(CeilDivide(shape.m, tile_m), sharing_m());
}

double WgmmaPlan::StreamedBytes(const Shape& shape) const {
  return stream == Stream::kNone ? 0 : 2.0 * shape.k * (stream == Stream::kA ? shape.m : shape.n);
}

double WgmmaPlan::KeptBytes(const Shape& shape) const { return StreamedBytes(shape) * keep / kKeepPeriod; }

bool WgmmaPlan::MovesRegisters() const {
  const int without = consumers() + (is_ring() ? 32 : 0);
  return is_persistent() && !is_unaided() && warpgroups > 1 &&
         sums_per_thread() + kOtherRegisters > RegisterLimit(without);
}

// With two consumer warpgroups a kernel is compiled for 168 registers a thread, with three for 128.
int WgmmaPlan::ProducerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 24 : 32; }
int WgmmaPlan::ConsumerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 240 : 160; }

// At most all stages but one, so that the copies for the next tile find room meanwhile.
int WgmmaPlan::TurnSteps() const {
  if (!ends_in_turn) return 0;
  const int steps = CeilDivide(kTurnK, step_k);
  return is_ring() ? std::min(steps, stages - 1) : steps;
}

int WgmmaPlan::StagedRowsBytes() const {
  if (is_swapped()) return 16 * sum_columns() * 2;
  if (!store_by_copy_engine()) return 16 * (sum_columns() * 2 + 16);
  return 16 * StagedPanels() * BoxWidth() * 2;
}
int WgmmaPlan::StagedPanels() const {
  const int all = ColumnsInBoxes() / BoxWidth();
  if (!is_unaided()) return all;
  int panels = all;
  while (panels > 1 && !HasRoomToStage(*this, warpgroups, 16 * panels * BoxWidth() * 2)) --panels;
  return CeilDivide(all, CeilDivide(all, panels));  // as even as that many turns allow
}
int WgmmaPlan::BoxWidth() const { return StoredWidth(BoxedColumns()); }
int WgmmaPlan::ColumnsInBoxes() const { return CeilDivide(BoxedColumns(), BoxWidth()) * BoxWidth(); }

int WgmmaPlan::StagedBlocks() const { return HasRoomToStage(*this, warpgroups * row_blocks()) ? row_blocks() : 1; }

bool WgmmaPlan::SharesStaging() const {
  return schedule == Schedule::kCooperative && store_by_copy_engine() && ends_in_turn && team() > 1 &&
         !HasRoomToStage(*this, warpgroups);
}

int WgmmaPlan::StagingBytes() const {
  if (splits_exchange()) return 0;
  if (splits_are_cluster()) {  // a slot of the largest share for each of the others
    const int piece = sums_per_thread() % (4 * split) == 0 ? 4 : 2;
    return (split - 1) * CeilDivide(sums_per_thread() / piece, split) * piece * int(sizeof(float)) * consumers();
  }
  const int staging_warps = !is_persistent() ? sum_rows() / 16 : SharesStaging() ? 4 : 4 * warpgroups * StagedBlocks();
  return staging_warps * StagedRowsBytes();
}

bool WgmmaPlan::StagingInStages(const Shape& shape) const {
  return !is_persistent() &&
         kBarrierBytes + int64_t(StagesHeld(shape)) * StageBytes() + StagingBytes() > kHopperSmemBytes;
}

int64_t WgmmaPlan::SmemBytes(const Shape& shape) const {
  const int64_t stages_bytes = int64_t(StagesHeld(shape)) * StageBytes();
  if (!StagingInStages(shape)) return kBarrierBytes + stages_bytes + StagingBytes();
  const int beside_bytes = stages_in_turn() ? StagingBytes() / team() * (team() - 1) : 0;
  return kBarrierBytes + std::max<int64_t>(stages_bytes + beside_bytes, StagingBytes());
}

}  // namespace gemmsmith
