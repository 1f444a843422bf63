#include "program/cost.h"

#include <algorithm>
#include <cmath>

#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

double Ceil(double a, double b) { return std::ceil(a / b); }
double Fourth(double x) { return x * x * x * x; }

// Bytes of each matrix counted once; where they outgrow L2 they come from memory in every call.
double OperandBytes(const Shape& shape) {
  return 2 * (double(shape.m) * shape.k + double(shape.n) * shape.k + double(shape.m) * shape.n);
}
bool StaysInL2(const Shape& shape, const Device& device) { return OperandBytes(shape) <= device.l2_resident_mb * 1e6; }
// 93 % of what a copy reaches (store and skinny shapes of the H200 study).
double MemoryBytesPerNs(const Device& device) { return 0.93e3 * device.memory_tbs; }

// Adding f32 sums to L2 from one multiprocessor, of both families: 1.35 us for a 64 x 64 tile at any split.
constexpr double kAddBytesPerNs = 14.7;
// What a trigger costs in a launch that nothing chains to: not measured, there for the order.
constexpr double kTriggerNs[] = {0, 15, 10};  // none, early, late

// Fitted to the 16,877 screened direct trials of data/h200 (2026-11-21).
namespace direct {
constexpr double kLaunchNs = 971;        // node, first load, store: a kernel with nothing to do takes 0.57 us
constexpr double kCtaNs = 0.27;          // each CTA beyond one a multiprocessor
constexpr double kRoundNs = 73;          // exposed latency of one round of loads and matrix instructions
constexpr double kLineNs = 38.8;         // each further 8-row line of operands that a warp loads in a round
constexpr double kLoadBytesPerNs = 104;  // into one multiprocessor, counting what warps load twice
constexpr double kWarpSumNs = 88;        // a doubling of the warps that meet in shared memory, and
constexpr double kWarpSumBytesPerNs = 92;
constexpr double kStoreBytesPerNs = 53.7;
constexpr double kAddNs = 993, kOrderedSplitNs = 40.8;
// Shares of the work of loading that are added by run-time dimensions, a row-major B, narrow accesses.
constexpr double kRunTimeShare = 0.095, kRowMajorShare = 0.70, kNarrowShare = 0.246;
constexpr int kChunkK = 32;
}  // namespace direct

// CTAs of a direct kernel that one multiprocessor holds at once.
double DirectOccupancy(const DirectPlan& plan, const Device& device) {
  const int lines = plan.chunks * (plan.warp_tile_m() / 8 + plan.warp_tile_n() / 8);
  const int registers = std::min(255, (plan.warp_tile_m() * plan.warp_tile_n() / 32 + 4 * lines + 40 + 7) / 8 * 8);
  const int by_registers = device.registers_per_block / (plan.threads() * registers);
  const int by_smem = device.smem_bytes_per_multiprocessor / int(plan.SmemBytes() + 1040);
  return std::max(1, std::min({32, 2048 / plan.threads(), by_registers, by_smem}));
}

double DirectLoadFactor(const DirectPlan& plan, const Gemm& gemm) {
  const double vector = std::min(gemm.AlignmentA(), gemm.AlignmentB());
  return 1 + direct::kRowMajorShare * (gemm.kind.layout.b == Order::kRow) + direct::kNarrowShare * (8 / vector - 1) +
         direct::kRunTimeShare * (plan.fixed != FixedDimensions::kAll);
}

double DirectTimeNs(const DirectPlan& plan, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const double tile = double(plan.tile_m) * plan.tile_n;
  const double ctas = Ceil(shape.m, plan.tile_m) * Ceil(shape.n, plan.tile_n) * plan.split;
  const double per_sm = Ceil(ctas, device.multiprocessors);
  const double waves = Ceil(per_sm, DirectOccupancy(plan, device));
  const double round_k = direct::kChunkK * plan.chunks * plan.warps_k;
  const double rounds = Ceil(Ceil(shape.k, round_k), plan.split);
  const double lines = plan.chunks * (plan.warp_tile_m() / 8 + plan.warp_tile_n() / 8);
  const double factor = DirectLoadFactor(plan, gemm);

  const double launch = direct::kLaunchNs + direct::kCtaNs * std::max(0.0, ctas - device.multiprocessors);
  const double latency = waves * rounds * (direct::kRoundNs + direct::kLineNs * lines * factor);
  const double loaded_bytes = 2 * rounds * round_k * (plan.tile_m * plan.warps_n + plan.tile_n * plan.warps_m);
  const double load = per_sm * loaded_bytes * factor / direct::kLoadBytesPerNs;
  const double memory = StaysInL2(shape, device) ? 0 : OperandBytes(shape) / MemoryBytesPerNs(device);
  const double main = std::sqrt(latency * latency + load * load + memory * memory);

  double meet = 0;
  if (plan.warps_k > 1)
    meet += direct::kWarpSumNs * std::log2(plan.warps_k + 1) +
            per_sm * tile * 4 * plan.warps_k / direct::kWarpSumBytesPerNs;
  if (plan.split > 1) meet += direct::kAddNs + per_sm * tile * 4 / kAddBytesPerNs;
  if (plan.reduction == SplitReduction::kOrdered) meet += direct::kOrderedSplitNs * plan.split;
  return launch + kTriggerNs[int(plan.trigger)] + main + meet + per_sm * tile * 2 / direct::kStoreBytesPerNs;
}

// Fitted to 2,460 times of bare wgmma kernels with one tile a CTA, each the best of one structure on one of 702 shapes
// (H200, 2026-11-21; docs/lab/cost_model.md).
namespace wgmma {
constexpr double kLaunchNs = 1541;          // node, barriers, first copy, last store's latency: 64x64x64 takes 1.66 us
constexpr double kWaveNs = 408;             // each further wave: what its predecessor does not hide
constexpr double kClusterNs = 264;          // a cluster's barriers
constexpr double kStepNs = 161;             // one k step of any size: wait, issue, release
constexpr double kRefillNs = 790;           // from the release of a stage to its next arrival
constexpr double kDeliverBytesPerNs = 172;  // by the copy engine into one multiprocessor
constexpr double kPeakShare = 0.91;         // of the device's matrix rate that long main loops reach
constexpr double kNarrowestN = 51;          // columns that a 64-row instruction costs at least
constexpr double kL2BytesPerNs = 18600;     // into all multiprocessors, what a cluster shares counted once
constexpr double kL2DistinctBytesPerNs = 7460;  // what a wave shares counted once
constexpr double kStoreBytesPerNs = 33.4, kTmaStoreShare = 0.93, kTmaStoreNs = 60;
constexpr double kAddNs = 799;
constexpr double kClusterSplitNs = 77.5, kClusterBytesPerNs = 31.7;
// Multiprocessors that clusters can fill: 128 CTAs in clusters of 4 take two waves.
constexpr double kUsableInFours = 106.0 / 132, kUsableInEights = 82.0 / 132;
// Estimates, there for the order: what each costs where it does not pay.
constexpr double kRowsPerWarpgroupNs = 30;             // each further 64 rows of one warpgroup
constexpr double kRunTimeKNs = 60, kRunTimeMnNs = 30;  // compile-time k alone: 1.03x at k = 64
}  // namespace wgmma

double UsableMultiprocessors(const WgmmaPlan& plan, const Device& device) {
  const int size = plan.splits_are_cluster() ? plan.split : plan.cluster_size();
  const double share = size <= 2 ? 1 : size <= 4 ? wgmma::kUsableInFours : wgmma::kUsableInEights;
  return std::floor(device.multiprocessors * share);
}

double WgmmaOccupancy(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  const int64_t by_smem = device.smem_bytes_per_multiprocessor / (plan.SmemBytes(shape) + 1024);
  const int registers = std::min(255, plan.sums_per_thread() + 50);
  const int by_registers = device.registers_per_block / (plan.threads() * registers);
  return double(std::max<int64_t>(1, std::min<int64_t>({by_smem, by_registers, 2048 / plan.threads()})));
}

// Distinct bytes of operands that the tiles of one wave need: as many rows and columns of tiles as the raster puts
// beside each other.
double WaveBytes(const WgmmaPlan& plan, const Shape& shape, double tiles_at_once) {
  const double tiles_m = Ceil(shape.m, plan.tile_m), tiles_n = Ceil(shape.n, plan.tile_n);
  double rows = 0, columns = 0;
  if (plan.raster == 1) {
    columns = std::min(tiles_n, tiles_at_once);
    rows = std::min(tiles_m, Ceil(tiles_at_once, columns));
  } else {
    rows = std::min({tiles_m, tiles_at_once, plan.raster == 0 ? tiles_m : double(plan.raster)});
    columns = std::min(tiles_n, Ceil(tiles_at_once, rows));
  }
  return 2.0 * shape.k * (rows * plan.tile_m + columns * plan.tile_n);
}

double WgmmaStoreNs(const WgmmaPlan& plan, double per_sm) {
  const double store = per_sm * plan.tile_m * plan.tile_n * 2 / wgmma::kStoreBytesPerNs / plan.split;
  return plan.store_by_copy_engine ? wgmma::kTmaStoreNs + wgmma::kTmaStoreShare * store : store;
}

double WgmmaMeetNs(const WgmmaPlan& plan, double per_sm) {
  if (plan.split == 1) return 0;
  const double sum_bytes = per_sm * plan.tile_m * plan.tile_n * 4;
  return plan.splits_are_cluster() ? wgmma::kClusterSplitNs * plan.split + sum_bytes / wgmma::kClusterBytesPerNs
                                   : wgmma::kAddNs + sum_bytes / kAddBytesPerNs;
}

double WgmmaTimeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const double ctas = Ceil(shape.m, plan.tile_m) * Ceil(shape.n, plan.tile_n) * plan.split;
  const double steps = plan.Steps(shape);
  const double occupancy = plan.is_persistent() ? 1 : WgmmaOccupancy(plan, shape, device);
  const double usable = UsableMultiprocessors(plan, device);
  const double per_sm = Ceil(ctas, usable);
  const double waves = Ceil(per_sm, occupancy);
  const double cta_k = steps * plan.step_k;

  const double flop_per_ns = wgmma::kPeakShare * 1e3 * device.peak_half_tflops / device.multiprocessors;
  const double columns = std::max(double(plan.tile_n), wgmma::kNarrowestN);
  const double step_compute = 2 * plan.tile_m * columns * plan.step_k / flop_per_ns;
  const double compute = per_sm * steps * step_compute;
  const double deliver = per_sm * cta_k * 2 * (plan.tile_m + plan.tile_n) / wgmma::kDeliverBytesPerNs;
  const double issue = waves * steps * wgmma::kStepNs;
  // A persistent ring goes on from tile to tile.
  const double rings = plan.is_persistent() ? 1 : waves, ring_steps = waves * steps / rings;
  const double refill =
      plan.is_ring() ? rings * std::max(0.0, ring_steps - plan.stages) * (wgmma::kRefillNs + step_compute) / plan.stages
                     : 0;
  const double tile_lines = double(plan.tile_m) / plan.cluster_n + double(plan.tile_n) / plan.cluster_m;
  const double l2 = ctas * cta_k * 2 * tile_lines / wgmma::kL2BytesPerNs;
  const double tiles_at_once = std::clamp(std::floor(usable * occupancy / plan.split), 1.0, ctas / plan.split);
  const double distinct_bytes = ctas / (tiles_at_once * plan.split) * WaveBytes(plan, shape, tiles_at_once);
  const double l2_distinct = distinct_bytes / wgmma::kL2DistinctBytesPerNs;
  const double memory =
      StaysInL2(shape, device) ? 0 : std::max(OperandBytes(shape), distinct_bytes) / MemoryBytesPerNs(device);
  const double main = std::sqrt(std::sqrt(Fourth(compute) + Fourth(deliver) + Fourth(issue) + Fourth(refill) +
                                          Fourth(l2) + Fourth(l2_distinct) + Fourth(memory)));

  double launch = wgmma::kLaunchNs + (plan.is_persistent() ? 0 : wgmma::kWaveNs * (waves - 1));
  launch += wgmma::kRowsPerWarpgroupNs * (plan.tile_m / (64 * plan.warpgroups) - 1);
  if (plan.cluster_size() > 1 || plan.splits_are_cluster()) launch += wgmma::kClusterNs;
  if (plan.fixed == FixedDimensions::kNone) launch += wgmma::kRunTimeKNs;
  if (plan.fixed != FixedDimensions::kAll) launch += wgmma::kRunTimeMnNs;
  const double store = WgmmaStoreNs(plan, per_sm);
  // One team stores while the other one multiplies; the last tile's store has nothing to hide behind.
  const double main_and_store = plan.schedule == Schedule::kPingPong
                                    ? std::sqrt(std::sqrt(Fourth(main) + Fourth(store))) + store / per_sm
                                    : main + store;
  return launch + kTriggerNs[int(plan.trigger)] + main_and_store + WgmmaMeetNs(plan, per_sm);
}

}  // namespace

double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) {
  switch (plan.family) {
    case FamilyId::kDirect:
      return DirectTimeNs(DirectPlan(plan), gemm, device);
    case FamilyId::kWgmma:
      return WgmmaTimeNs(WgmmaPlan(plan), gemm, device);
  }
  GEMMSMITH_CHECK(false, "family {}", int(plan.family));
  return 0;
}

}  // namespace gemmsmith
