// Facts that follow from a plan: registers, staggers, staging, shared memory.
#include "program/wgmma/wgmma_plan.h"

#include <algorithm>

#include "program/wgmma/registers.h"

namespace gemmsmith {

namespace {

// k that one warpgroup multiplies in about the time in which another one stores its rows of C: 0.8 us against 0.7 us for
// 64 x 256. Both shrink with the columns.
constexpr int kStaggerK = 192;

// Room for so many blocks of 64 rows beside the stages of a persistent kernel.
bool HasRoomToStage(const WgmmaPlan& plan, int blocks) {
  const int64_t staged_bytes = int64_t(blocks) * 4 * plan.StagedRowsBytes();
  return kBarrierBytes + int64_t(plan.stages) * plan.StageBytes() + staged_bytes <= kHopperSmemBytes;
}

}  // namespace

int WgmmaPlan::StreamReaders(const Shape& shape) const {
  if (stream == Stream::kNone) return 0;
  return stream == Stream::kA ? CeilDivide(CeilDivide(shape.n, tile_n), sharing_n())
                              : CeilDivide(CeilDivide(shape.m, tile_m), sharing_m());
}

bool WgmmaPlan::MovesRegisters() const {
  const int compiled_threads = consumers() + (is_ring() ? 32 : 0);
  return is_persistent() && warpgroups > 1 && sums_per_thread() + kOtherRegisters > RegisterLimit(compiled_threads);
}

// With two consumer warpgroups a kernel is compiled for 168 registers a thread, with three for 128.
int WgmmaPlan::ProducerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 24 : 32; }
int WgmmaPlan::ConsumerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 240 : 160; }

int WgmmaPlan::threads() const {
  return WgmmaThreads(warpgroups, is_ring(), HasStoreWarp(), MovesRegisters());
}

// At most all stages but one, so that the copies for the next tile find room.
int WgmmaPlan::StaggerSteps() const {
  if (!staggers) return 0;
  const int steps = CeilDivide(kStaggerK, step_k);
  return is_ring() ? std::min(steps, stages - 1) : steps;
}

int WgmmaPlan::StagedBlocks() const { return HasRoomToStage(*this, warpgroups * row_blocks()) ? row_blocks() : 1; }

bool WgmmaPlan::HasStoreWarp() const {
  return schedule == Schedule::kCooperative && stores_by_tma() && staggers && team() > 1 &&
         !HasRoomToStage(*this, warpgroups);
}

int WgmmaPlan::StagingBytes() const {
  if (splits_exchange()) return 0;
  if (splits_are_cluster()) return ClusterStagingBytes(sums_per_thread(), split, consumers());
  return is_persistent() ? PersistentStagingBytes(warpgroups, StagedBlocks(), HasStoreWarp(), StagedRowsBytes())
                         : TileStagingBytes(sum_rows(), StagedRowsBytes());
}

bool WgmmaPlan::StagingInStages(const Shape& shape) const {
  return !is_persistent() &&
         kBarrierBytes + int64_t(StagesHeld(shape)) * StageBytes() + StagingBytes() > kHopperSmemBytes;
}

int64_t WgmmaPlan::SmemBytes(const Shape& shape) const {
  const int beside = StagingBesideStages(StagingBytes(), StagingInStages(shape), stages_while_others_read(), team());
  return WgmmaSmemBytes(int64_t(StagesHeld(shape)) * StageBytes(), beside, StagingBytes());
}

}  // namespace gemmsmith
