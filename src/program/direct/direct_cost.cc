#include "program/direct/direct_cost.h"

#include <algorithm>
#include <cmath>

#include "program/cost_terms.h"

namespace gemmsmith {

namespace {

using cost::Ceil;

// Fitted, together with those of one-tile wgmma plans, to 50,721 screened trials (docs/lab/cost_model.md).
constexpr double kLaunchNs = 1165;       // node, first load, store: a kernel with nothing to do takes 0.57 us
constexpr double kCtaNs = 0.27;          // each CTA beyond one a multiprocessor
constexpr double kRoundNs = 89.8;        // exposed latency of one round of loads and matrix instructions
constexpr double kLineNs = 37.9;         // each 8-row line of operands that a warp loads in a round
constexpr double kLoadBytesPerNs = 101;  // into one multiprocessor, counting what warps load twice
constexpr double kWarpSumNs = 80;        // a doubling of the warps that meet in shared memory, and
constexpr double kWarpSumBytesPerNs = 65.5;
constexpr double kStoreBytesPerNs = 72;
// Shares of the work of loading that are added by run-time dimensions, a row-major B, narrow accesses.
constexpr double kRunTimeShare = 0.095, kRowMajorShare = 0.70, kNarrowShare = 0.246;
constexpr double kMemoryShare = 0.93;  // of a copy's rate

// CTAs that one multiprocessor holds at once.
double Occupancy(const DirectPlan& plan, const Device& device) {
  const int sums = plan.warp_tile_m() * plan.warp_tile_n() / 32;
  const int registers = std::min(255, (sums + 4 * plan.Lines() + 40 + 7) / 8 * 8);
  const int by_registers = device.registers_per_block / (plan.threads() * registers);
  const int by_smem = device.smem_bytes_per_multiprocessor / int(plan.SmemBytes() + 1040);
  return std::max(1, std::min({32, 2048 / plan.threads(), by_registers, by_smem}));
}

double LoadFactor(const DirectPlan& plan, const Gemm& gemm) {
  const double vector = std::min(gemm.AlignmentA(), gemm.AlignmentB());
  return 1 + kRowMajorShare * (gemm.kind.layout.b == Order::kRow) + kNarrowShare * (8 / vector - 1) +
         kRunTimeShare * (plan.fixed != FixedDimensions::kAll);
}

double MemoryNs(const Shape& shape, const Device& device) {
  const double bytes = cost::OperandBytes(shape);
  return bytes <= device.l2_resident_mb * 1e6 ? 0 : bytes / (kMemoryShare * 1e3 * device.memory_tbs);
}

}  // namespace

double DirectTimeNs(const DirectPlan& plan, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const double tile = double(plan.tile_m) * plan.tile_n;
  const double ctas = Ceil(shape.m, plan.tile_m) * Ceil(shape.n, plan.tile_n);
  const double per_sm = Ceil(ctas, device.multiprocessors);
  const double waves = Ceil(per_sm, Occupancy(plan, device));
  const double rounds = Ceil(shape.k, plan.RoundK());
  const double factor = LoadFactor(plan, gemm);

  const double launch = kLaunchNs + kCtaNs * std::max(0.0, ctas - device.multiprocessors);
  const double latency = waves * rounds * (kRoundNs + kLineNs * plan.Lines() * factor);
  const double loaded_bytes = 2 * rounds * plan.RoundK() * (plan.tile_m * plan.warps_n + plan.tile_n * plan.warps_m);
  const double load = per_sm * loaded_bytes * factor / kLoadBytesPerNs;
  const double memory = MemoryNs(shape, device);
  const double main = std::sqrt(latency * latency + load * load + memory * memory);

  double sum = 0;
  if (plan.warps_k > 1)
    sum = kWarpSumNs * std::log2(plan.warps_k + 1) + per_sm * tile * 4 * plan.warps_k / kWarpSumBytesPerNs;
  return launch + cost::kTriggerNs[int(plan.trigger)] + main + sum + per_sm * tile * 2 / kStoreBytesPerNs;
}

}  // namespace gemmsmith
