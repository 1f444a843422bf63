// Why a legal plan of the wgmma family is not worth a measurement.
#include "program/wgmma/wgmma_legality.h"

namespace gemmsmith {

namespace {

void AdviseTile(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  const int unit_m = !plan.is_swapped() ? 64 : gemm.kind.layout.a == Order::kColumn ? 16 : 8;
  const int unit_n = plan.is_swapped() ? 64 : gemm.kind.layout.b == Order::kRow ? 16 : 8;
  if (plan.tile_m >= gemm.shape.m + unit_m)
    reasons.Add("m {} leaves {} of the tile's {} rows idle", gemm.shape.m, plan.tile_m - gemm.shape.m, plan.tile_m);
  if (plan.tile_n >= gemm.shape.n + unit_n)
    reasons.Add("n {} leaves {} of the tile's {} columns idle", gemm.shape.n, plan.tile_n - gemm.shape.n, plan.tile_n);
  if (plan.step_k >= gemm.shape.k + 64)
    reasons.Add("k {} leaves a panel of 64 of step_k {} idle", gemm.shape.k, plan.step_k);
  if (plan.cluster_m > CeilDivide(gemm.shape.m, plan.tile_m) || plan.cluster_n > CeilDivide(gemm.shape.n, plan.tile_n))
    reasons.Add("a cluster of {} x {} CTAs for {} x {} tiles", plan.cluster_m, plan.cluster_n,
                CeilDivide(gemm.shape.m, plan.tile_m), CeilDivide(gemm.shape.n, plan.tile_n));
}

// A persistent ring goes on into the next tile, so few steps do there.
void AdviseStages(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (const int steps = plan.Steps(gemm.shape); plan.is_ring() && plan.stages > steps && !plan.is_persistent())
    reasons.Add("a split has {} steps of {} k, fewer than the {} stages", steps, plan.step_k, plan.stages);
}

// C is most of the traffic, and too large to stay in L2.
bool MostlyWritesC(const Gemm& gemm) { return gemm.shape.k <= 256 && int64_t(gemm.shape.m) * gemm.shape.n >= 1 << 22; }

// A persistent CTA pays with more than one tile. Fewer CTAs draw less power, which is time in long calls: 1.7 to 2 % in
// steady state with large tiles at K >= 4096 and 128 CTAs instead of 132; nothing where K is short.
void AdviseSchedule(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  constexpr int kLongK = 2048;
  if (plan.store == Store::kTmaFirstOut && !(plan.is_persistent() && MostlyWritesC(gemm)))
    reasons.Add("store=tma_first_out pays in persistent kernels that mostly write C (k to 256, 2^22 elements and more)");
  if (!plan.is_persistent()) return;
  if (!plan.stores_by_tma() && gemm.AlignmentC() >= 8)
    reasons.Add("persistent schedules store by TMA where lines of C allow it");
  const int64_t tiles = plan.Tiles(gemm.shape), sms = device.multiprocessors;
  if (tiles <= sms) reasons.Add("{} tiles for {} multiprocessors: schedule=one does it", tiles, sms);
  const int64_t waves = (tiles + sms - 1) / sms;
  if (plan.even_waves() && (gemm.shape.k < kLongK || (tiles + waves - 1) / waves >= sms))
    reasons.Add("ctas=even saves power where K is {} or more and {} tiles do not need all {} multiprocessors", kLongK,
                tiles, sms);
}

// A stream pays for an operand that few clusters read, at about the same time, and that L2 cannot keep for the next call.
void AdviseStream(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  constexpr int kMaxReaders = 4;
  if (plan.stream == Stream::kNone) return;
  const bool is_a = plan.stream == Stream::kA;
  if (const int readers = plan.StreamReaders(gemm.shape); readers > kMaxReaders)
    reasons.Add("{} {} of clusters read {}: it should stay in L2", readers, is_a ? "columns" : "rows",
                is_a ? "A" : "B");
  const double megabytes = 2e-6 * gemm.shape.k * (double(gemm.shape.m) + gemm.shape.n);
  if (megabytes <= device.l2_resident_mb)
    reasons.Add("operands of {:.0f} MB stay in L2 from call to call: nothing should leave it first", megabytes);
}

}  // namespace

void AdviseWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  AdviseTile(plan, gemm, reasons);
  AdviseStages(plan, gemm, reasons);
  AdviseSchedule(plan, gemm, device, reasons);
  AdviseStream(plan, gemm, device, reasons);
}

}  // namespace gemmsmith
