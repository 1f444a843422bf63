#include "program/cost.h"

#include <algorithm>
#include <cmath>

#include "program/direct_family.h"

namespace gemmsmith {

namespace {

double CeilDivide(double a, double b) { return std::ceil(a / b); }
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
  const double ctas = CeilDivide(shape.m, plan.tile_m) * CeilDivide(shape.n, plan.tile_n) * plan.split;
  const double per_sm = CeilDivide(ctas, device.multiprocessors);
  const double waves = CeilDivide(per_sm, DirectOccupancy(plan, device));
  const double round_k = direct::kChunkK * plan.chunks * plan.warps_k;
  const double rounds = CeilDivide(CeilDivide(shape.k, round_k), plan.split);
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
  return launch + main + meet + per_sm * tile * 2 / direct::kStoreBytesPerNs;
}

// Fitted to 2,460 times of bare wgmma kernels with one tile a CTA, each the best of one structure on one of 702 shapes
// (H200, 2026-11-21; small and large study of docs/lab/cost_model.md).
namespace wgmma {
constexpr double kLaunchNs = 1520;  // node, barriers, first copy, epilogue's latency: 64 x 64 x 64 takes 1.66 us
constexpr double kWaveNs = 352;     // each further wave: what its predecessor does not hide
constexpr double kClusterNs = 242;  // a cluster's barriers
constexpr double kStepNs = 165;     // one k step of any size: barrier, issue, wait
constexpr double kRefillNs = 50;    // latency of refilling a ring, shared by the stages in flight
constexpr double kDeliverBytesPerNs = 156;  // by the copy engine into one multiprocessor
constexpr double kPeakShare = 0.90;         // of the device's matrix rate that long main loops reach
constexpr double kNarrowestN = 48;          // columns that a 64-row instruction costs at least
constexpr double kL2BytesPerNs = 17600;     // into all multiprocessors, multicast counted once
constexpr double kStoreBytesPerNs = 32.7, kTmaStoreShare = 0.93, kTmaStoreNs = 60;
constexpr double kAddNs = 824;
constexpr double kClusterSplitNs = 76.4, kClusterBytesPerNs = 30.3;
// Multiprocessors that clusters can fill: 128 CTAs in clusters of 4 take two waves.
constexpr double kUsableInFours = 104.0 / 132, kUsableInEights = 80.0 / 132;
// Estimates, by their order only: what each costs where it does not pay.
constexpr double kRowsPerWarpgroupNs = 30;             // each further 64 rows of one warpgroup
constexpr double kChainNs = 10;                        // a trigger, in a plain launch
constexpr double kRunTimeKNs = 60, kRunTimeMnNs = 30;  // compile-time k alone: 1.03x at k = 64
}  // namespace wgmma

// A wgmma plan's values in the order of the family's parameters.
struct WgmmaValues {
  int tile_m, tile_n, warpgroups, k_step, stages, cluster_m, cluster_n, split, reduction, epilogue, trigger, raster,
      fixed;

  explicit WgmmaValues(const Plan& plan)
      : tile_m(plan.values[0]),
        tile_n(plan.values[1]),
        warpgroups(plan.values[2]),
        k_step(plan.values[3]),
        stages(plan.values[4]),
        cluster_m(plan.values[5]),
        cluster_n(plan.values[6]),
        split(plan.values[7]),
        reduction(plan.values[8]),
        epilogue(plan.values[9]),
        trigger(plan.values[10]),
        raster(plan.values[11]),
        fixed(plan.values[12]) {}
  bool resident() const { return stages == 0; }
  bool reduces_in_cluster() const { return split > 1 && reduction == 1; }
  int cluster_size() const { return cluster_m * cluster_n * (reduces_in_cluster() ? split : 1); }
};

double UsableMultiprocessors(const WgmmaValues& plan, const Device& device) {
  const int size = plan.cluster_size();
  const double share = size <= 2 ? 1 : size <= 4 ? wgmma::kUsableInFours : wgmma::kUsableInEights;
  return std::floor(device.multiprocessors * share);
}

double WgmmaOccupancy(const WgmmaValues& plan, double stages, const Device& device) {
  const double stage_bytes = 2.0 * (plan.tile_m + plan.tile_n) * plan.k_step;
  const double smem =
      std::min(double(device.smem_bytes_per_block), stages * stage_bytes + 2.0 * plan.tile_m * plan.tile_n + 2048);
  const double threads = 128.0 * plan.warpgroups + (plan.resident() ? 0 : 32);
  const double registers = std::min(255.0, double(plan.tile_m) * plan.tile_n / (128.0 * plan.warpgroups) + 50);
  return std::max(1.0, std::floor(std::min({device.smem_bytes_per_multiprocessor / (smem + 1024), 2048 / threads,
                                            device.registers_per_block / (threads * registers)})));
}

// Bytes that one wave's tiles need, for operands that L2 does not keep: as many rows and columns of tiles as the raster
// puts beside each other.
double WaveBytes(const WgmmaValues& plan, const Shape& shape, double tiles_at_once) {
  const double tiles_m = CeilDivide(shape.m, plan.tile_m), tiles_n = CeilDivide(shape.n, plan.tile_n);
  double rows = 0, columns = 0;
  if (plan.raster == 1) {
    columns = std::min(tiles_n, tiles_at_once);
    rows = std::min(tiles_m, CeilDivide(tiles_at_once, columns));
  } else {
    rows = std::min({tiles_m, tiles_at_once, plan.raster == 0 ? tiles_m : double(plan.raster)});
    columns = std::min(tiles_n, CeilDivide(tiles_at_once, rows));
  }
  return 2.0 * shape.k * (rows * plan.tile_m + columns * plan.tile_n);
}

double WgmmaStoreNs(const WgmmaValues& plan, double per_sm) {
  const double store = per_sm * plan.tile_m * plan.tile_n * 2 / wgmma::kStoreBytesPerNs / plan.split;
  return plan.epilogue == 1 ? wgmma::kTmaStoreNs + wgmma::kTmaStoreShare * store : store;
}

double WgmmaMeetNs(const WgmmaValues& plan, double per_sm) {
  if (plan.split == 1) return 0;
  const double sum_bytes = per_sm * plan.tile_m * plan.tile_n * 4;
  return plan.reduces_in_cluster() ? wgmma::kClusterSplitNs * plan.split + sum_bytes / wgmma::kClusterBytesPerNs
                                   : wgmma::kAddNs + sum_bytes / kAddBytesPerNs;
}

double WgmmaTimeNs(const WgmmaValues& plan, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const double ctas = CeilDivide(shape.m, plan.tile_m) * CeilDivide(shape.n, plan.tile_n) * plan.split;
  const double steps = CeilDivide(CeilDivide(shape.k, plan.k_step), plan.split);
  const double stages = plan.resident() ? steps : plan.stages;
  const double occupancy = WgmmaOccupancy(plan, stages, device);
  const double usable = UsableMultiprocessors(plan, device);
  const double per_sm = CeilDivide(ctas, usable);
  const double waves = CeilDivide(per_sm, occupancy);
  const double cta_k = steps * plan.k_step;

  const double deliver = per_sm * cta_k * 2 * (plan.tile_m + plan.tile_n) / wgmma::kDeliverBytesPerNs;
  const double refill = plan.resident() ? 0 : wgmma::kRefillNs / std::min(stages, steps);
  const double latency = waves * steps * (wgmma::kStepNs + refill);
  const double flop_per_ns = wgmma::kPeakShare * 1e3 * device.peak_half_tflops / device.multiprocessors;
  const double compute =
      per_sm * 2 * plan.tile_m * std::max(double(plan.tile_n), wgmma::kNarrowestN) * cta_k / flop_per_ns;
  const double l2 = ctas * cta_k * 2 * (double(plan.tile_m) / plan.cluster_n + double(plan.tile_n) / plan.cluster_m) /
                    wgmma::kL2BytesPerNs;
  double memory = 0;
  if (!StaysInL2(shape, device)) {
    const double tiles_at_once = std::max(1.0, std::floor(usable * occupancy / plan.split));
    const double fetched = CeilDivide(ctas, usable * occupancy) * WaveBytes(plan, shape, tiles_at_once);
    memory = std::max(OperandBytes(shape), fetched) / MemoryBytesPerNs(device);
  }
  const double main =
      std::sqrt(std::sqrt(Fourth(deliver) + Fourth(latency) + Fourth(compute) + Fourth(l2) + Fourth(memory)));

  double launch = wgmma::kLaunchNs + wgmma::kWaveNs * (waves - 1);
  launch += wgmma::kRowsPerWarpgroupNs * (plan.tile_m / (64 * plan.warpgroups) - 1) + wgmma::kChainNs * plan.trigger;
  if (plan.cluster_size() > 1) launch += wgmma::kClusterNs;
  if (plan.fixed == 0) launch += wgmma::kRunTimeKNs;
  if (plan.fixed != 2) launch += wgmma::kRunTimeMnNs;
  return launch + main + WgmmaStoreNs(plan, per_sm) + WgmmaMeetNs(plan, per_sm);
}

}  // namespace

double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (plan.family == FamilyId::kDirect) return DirectTimeNs(DirectPlan(plan), gemm, device);
  return WgmmaTimeNs(WgmmaValues(plan), gemm, device);
}

}  // namespace gemmsmith
