#include "program/direct/direct_legality.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr int kMaxWarps = 16;
constexpr int kMaxRegisters = 255;
// Addresses, counters and temporaries beside sums and fragments; ptxas has the last word (compile/binary.h).
constexpr int kOtherRegisters = 40;

int EstimatedRegisters(const DirectPlan& plan) {
  return plan.warp_tile_m() * plan.warp_tile_n() / 32 + 4 * plan.Lines() + kOtherRegisters;
}

void CheckProblem(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (gemm.kind.layout.a != Order::kRow)
    reasons.Add("direct reads a row-major A (layouts nn and tn), not {}", Name(gemm.kind.layout));
  if (device.compute_capability() < 80)
    reasons.Add("direct needs compute capability 8.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
  if (plan.trigger != Trigger::kNone && device.compute_capability() < 90)
    reasons.Add("chained launches need compute capability 9.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
}

void CheckTile(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.warp_tile_m() < 16 || plan.warp_tile_n() < 8)
    reasons.Add("{} x {} warps leave a warp {} x {} of the tile, less than one instruction's 16 x 8", plan.warps_m,
                plan.warps_n, plan.warp_tile_m(), plan.warp_tile_n());
  if (plan.warps() > kMaxWarps) reasons.Add("{} warps a CTA, at most {}", plan.warps(), kMaxWarps);
  if (plan.SmemBytes() > uint32_t(device.smem_bytes_per_block))
    reasons.Add("needs {} bytes of shared memory, {} gives a CTA {}", plan.SmemBytes(), device.name,
                device.smem_bytes_per_block);
  const int limit = std::min(kMaxRegisters, device.registers_per_block / plan.threads());
  if (const int registers = EstimatedRegisters(plan); registers > limit)
    reasons.Add("about {} registers a thread, at most {} with {} threads", registers, limit, plan.threads());
  if (const int tiles = CeilDivide(gemm.shape.n, plan.tile_n); tiles > device.max_grid_y)
    reasons.Add("{} tiles along n, a grid has at most {}", tiles, device.max_grid_y);
}

}  // namespace

void CheckDirect(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  CheckProblem(plan, gemm, device, reasons);
  CheckTile(plan, gemm, device, reasons);
}

void AdviseDirect(const DirectPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (plan.warps_k * plan.chunks > 1 && gemm.shape.k <= plan.RoundK() - kDirectChunkK)
    reasons.Add("k {} leaves idle part of the {} k that {} warps hold in flight", gemm.shape.k, plan.RoundK(),
                plan.warps_k);
}

}  // namespace gemmsmith
