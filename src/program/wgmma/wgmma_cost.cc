#include "program/wgmma/wgmma_cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "program/cost_terms.h"

namespace gemmsmith {

namespace {

using cost::Ceil;

// One tile a CTA: fitted together with the direct family (direct_cost.cc). Persistent: fitted to 585 times of bare
// kernels of every schedule on 94 large shapes (docs/lab/cost_model.md).
constexpr double kLaunchNs = 1527;        // node, barriers, first copy, last store's latency: 64x64x64 takes 1.66 us
constexpr double kWaveNs = 801;           // each further wave: what its predecessor does not hide
constexpr double kClusterNs = 547;        // of persistent kernels: a cluster's barriers, and
constexpr double kClusterShare = 0.0136;  // of the work of multiplying: waiting for each other
// Copies for a cluster, one tile a CTA.
constexpr double kMulticastNs = 568;
constexpr double kStepNs = 135;            // one k step of any size: wait, issue, release
constexpr double kPersistentStepNs = 106;  // the same in a ring that goes on
constexpr double kRefillNs = 58;           // from the release of a stage to its next arrival, beside
constexpr double kRefillShare = 2.8;       // of the stage's delivery, and
constexpr double kMemoryRefillNs = 1026;   // for the share of L2's traffic that comes from memory
constexpr double kPersistentRefillNs = 443, kPersistentRefillShare = 0.49;  // the same in a ring that goes on
constexpr double kDeliverBytesPerNs = 122;  // by the copy engine into one multiprocessor
constexpr double kPeakShare = 0.903;        // of the device's matrix rate that long main loops reach
constexpr double kNarrowestN = 63;          // columns that a 64-row instruction costs at least
constexpr double kReadShare = 0.033;  // what reading 64 rows costs an instruction of 64 columns; of wider ones less
constexpr double kAcrossShare = 0.015, kNarrowPanelShare = 0.076;    // each operand across k; panels of 16 or 32
constexpr double kTwoShare = 0.029, kThreeShare = 0.032;             // warpgroups that share a tile
constexpr double kL2BytesPerNs = 19600;         // into all multiprocessors, what a cluster shares counted once
constexpr double kL2DistinctBytesPerNs = 6200;  // what a wave shares counted once, and
constexpr double kTrafficShare = 0.01;          // of that in any case: orders rasters where something else takes longer
constexpr double kL2ApartBytesPerNs = 9100;     // of what only CTAs of one cluster share (docs/lab/neighbours.md)
constexpr double kMemoryShare = 0.95;           // of a copy's rate
constexpr double kL2HoldsMb = 21.9, kL2LosesMb = 31.8;  // operands of 22 MB stay in L2, of 54 MB nothing does
constexpr double kStreamKeepsMb = 7;  // and so much more stays where copies of an operand that is read once leave first
constexpr double kFarMb = 54.5, kFarWidthMb = 12.4, kFarShare = 0.53;  // and L2 is so much slower from there on
constexpr double kL2MemoryShare = 0.125;  // of the traffic through L2 that memory traffic waits for
// One tile a CTA: the store behind the main loop.
constexpr double kStoreBytesPerNs = 39.9, kTmaStoreShare = 0.907, kTmaStoreNs = 29;
// Persistent: the epilogue of two warpgroups, or (half as fast, while the other one multiplies) of one; then the rate at
// which C leaves a multiprocessor.
constexpr double kEpilogueNs = 186, kEpilogueBytesPerNs = 118, kAloneFactor = 1.425, kPingPongShare = 0.052;
constexpr double kDrainBytesPerNs = 33.2;
constexpr double kFirstOutShare = 0.99;  // of that where C is the first to leave L2 (0.988 in the median, 0.87 to 1.03)
// Staggered epilogues: the share of the other warpgroups' stores that is hidden (180 pairs of plans,
// docs/lab/throughput.md). Narrow instructions of one warpgroup cannot keep the matrix units busy.
constexpr double kStaggerCovers = 0.7, kPersistentStaggerCovers = 0.25;
constexpr int kMinStaggerColumns = 128;
// Factors of a TMA store whose boxes of C are narrower than a line of 128 bytes. Estimates.
constexpr double kBoxes32 = 1.05, kBoxes16 = 1.3, kBoxes8 = 1.7;
constexpr double kAddNs = 1245;             // splits that add f32 sums in L2, and
constexpr double kAddBytesPerNs = 20.2;     // from one multiprocessor
constexpr double kExchangeNs = 1224, kExchangeBytesPerNs = 26.3;  // splits that exchange sums through L2
// Splits that are a cluster: each CTA of it, and the sums that a CTA sends. Fitted to 4,400 plans, 10 % off (root mean
// square).
constexpr double kClusterNsASide = 27, kClusterBytesPerNs = 24.6;
// Estimates.
constexpr double kRowsPerWarpgroupNs = 30;                 // each further 64 rows of one warpgroup
constexpr double kRunTimeKNs = 35.1, kRunTimeMnNs = 28.5;  // compile-time k alone: 1.03x at k = 64
constexpr double kTwoStagesShare = 0.14;                   // two stages against three took 10 to 24 % longer at 8192^3
// Columns that fill no whole lines of 128 bytes, or are no multiple of 16. Measured for ping-pong tiles of 128 rows.
constexpr double kOddTileShare = 0.006, kOddEightsShare = 0.012;
// Calls of this length run at the power cap, where time is energy: reads of shared memory and L2, and ping-pong. From six
// kernels on eight shapes, in steady state.
constexpr double kCappedNs = 250'000, kSharedEnergy = 0.1, kL2Energy = 0.1, kPingPongEnergy = 0.01;
// 128 CTAs instead of 132: the power saved, and the cost below the power cap.
constexpr double kEvenSaves = 0.015, kEvenCosts = 0.005;

// The time of parts that overlap: a little more than that of the longest.
class Overlap {
 public:
  explicit Overlap(std::initializer_list<double> parts_ns) {
    for (const double part_ns : parts_ns) sum_ += Square(Square(Square(part_ns)));
  }
  double ns() const { return std::sqrt(std::sqrt(std::sqrt(sum_))); }

 private:
  static double Square(double x) { return x * x; }
  double sum_ = 0;
};

// How the tiles of a plan lie on the device.
struct Placement {
  double usable;         // multiprocessors
  double occupancy;      // CTAs on each
  double ctas;           // tiles, times splits
  double per_sm;         // of them on the busiest multiprocessor
  double waves;          // one after the other
  double tiles_at_once;  // on the device
};

double Occupancy(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  const int64_t by_smem = device.smem_bytes_per_multiprocessor / (plan.SmemBytes(shape) + 1024);
  const int registers = std::min(255, plan.sums_per_thread() + 50);
  const int by_registers = plan.MovesRegisters() ? 1 : device.registers_per_block / (plan.threads() * registers);
  return double(std::max<int64_t>(1, std::min<int64_t>({by_smem, by_registers, 2048 / plan.threads()})));
}

Placement PlacementOf(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  Placement place;
  place.occupancy = Occupancy(plan, shape, device);
  place.usable =
      std::max(1.0, double(device.CtasInClusters(plan.CtasOfCluster(), int64_t(place.occupancy))) / place.occupancy);
  place.ctas = Ceil(shape.m, plan.tile_m) * Ceil(shape.n, plan.tile_n) * plan.split;
  place.per_sm = Ceil(place.ctas, place.usable);
  place.waves = Ceil(place.per_sm, place.occupancy);
  place.tiles_at_once =
      std::clamp(std::floor(place.usable * place.occupancy / plan.split), 1.0, place.ctas / plan.split);
  return place;
}

// Distinct bytes of operands that the tiles of one wave read.
double WaveBytes(const WgmmaPlan& plan, const Shape& shape, double tiles_at_once) {
  const double tiles_m = Ceil(shape.m, plan.tile_m), tiles_n = Ceil(shape.n, plan.tile_n);
  double rows = 0, columns = 0;
  if (plan.raster == 1) {
    columns = std::min(tiles_n, tiles_at_once);
    rows = std::min(tiles_m, Ceil(tiles_at_once, columns));
  } else {
    rows = std::min({tiles_m, tiles_at_once, plan.raster == 0 ? tiles_m : double(plan.raster) * plan.cluster_m});
    columns = std::min(tiles_n, Ceil(tiles_at_once, rows));
    rows = std::min(tiles_m, std::max(rows, Ceil(tiles_at_once, columns)));  // the next groups, where n ends first
  }
  return 2.0 * shape.k * (rows * plan.tile_m + columns * plan.tile_n);
}

// Rows and columns of operands that a CTA of a cluster copies for a tile.
double CopiedLines(const WgmmaPlan& plan) {
  return double(plan.tile_m) / plan.sharing_n() + double(plan.tile_n) / plan.sharing_m();
}

// The cost of narrow or overlapping boxes of C.
double BoxFactor(const WgmmaPlan& plan) {
  if (!plan.stores_by_tma()) return 1;
  const int width = plan.BoxWidth();
  const double width_factor = width == 64   ? 1
                              : width == 32 ? kBoxes32
                              : width == 16 ? kBoxes16
                                            : kBoxes8;
  const double twice_factor = double(plan.ColumnsInBoxes()) / plan.BoxedColumns();
  return width_factor * twice_factor * (plan.store == Store::kTmaFirstOut ? kFirstOutShare : 1);
}

// Time lost, as a share of the matrix instructions.
double SlowDown(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const double work_ns = 2e-3 * double(gemm.shape.Volume()) / device.peak_half_tflops;
  const double reads = 64.0 / std::max(double(plan.sum_columns()), kNarrowestN);
  double share = kAcrossShare * ((gemm.kind.layout.a == Order::kColumn) + (gemm.kind.layout.b == Order::kRow));
  if (plan.shares_copies()) share += kClusterShare;
  if (plan.stages == 2) share += kTwoStagesShare;
  if (plan.sum_columns() % 64 != 0)
    share += plan.sum_columns() % 32 == 0 ? kOddTileShare / 2 : kOddTileShare;
  if (plan.sum_columns() % 16 != 0) share += kOddEightsShare;
  const bool is_pingpong = plan.schedule == Schedule::kPingPong;
  if (work_ns > kCappedNs)
    return share + kSharedEnergy * reads +
           kL2Energy * 64 * CopiedLines(plan) / (double(plan.tile_m) * plan.tile_n) +
           (is_pingpong ? kPingPongEnergy : 0) - (plan.even_waves() ? kEvenSaves : 0);
  if (plan.even_waves()) share += kEvenCosts;
  if (!is_pingpong && plan.warpgroups > 1) share += plan.warpgroups == 2 ? kTwoShare : kThreeShare;
  return share + kReadShare * reads;
}

// Matrix instructions of one k step.
double StepComputeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const double flop_per_ns = kPeakShare * 1e3 * device.peak_half_tflops / device.multiprocessors;
  const bool narrow_panels = (gemm.kind.layout.a == Order::kColumn && plan.tile_m % 64 != 0) ||
                             (gemm.kind.layout.b == Order::kRow && plan.tile_n % 64 != 0);
  const double columns =
      std::max(double(plan.sum_columns()), kNarrowestN) * (narrow_panels ? 1 + kNarrowPanelShare : 1);
  return 2 * plan.sum_rows() * columns * plan.step_k / flop_per_ns * (1 + SlowDown(plan, gemm, device));
}

double SentInClusterNs(const WgmmaPlan& plan, double sum_bytes) {
  return sum_bytes * (plan.split - 1) / plan.split / kClusterBytesPerNs;
}

double ReductionNs(const WgmmaPlan& plan, double per_sm) {
  if (plan.split == 1) return 0;
  const double sum_bytes = per_sm * plan.tile_m * plan.tile_n * 4;
  if (plan.splits_exchange()) return kExchangeNs + sum_bytes / kExchangeBytesPerNs;
  if (!plan.splits_are_cluster()) return kAddNs + sum_bytes / kAddBytesPerNs;
  return kClusterNsASide * (plan.split + plan.cluster_size()) + SentInClusterNs(plan, sum_bytes);
}

double LaunchNs(const WgmmaPlan& plan, double waves) {
  double launch = kLaunchNs + cost::kTriggerNs[int(plan.trigger)];
  if (!plan.is_persistent()) launch += kWaveNs * (waves - 1);
  launch += kRowsPerWarpgroupNs * (plan.sum_rows() / (64 * plan.warpgroups) - 1);
  if (plan.shares_copies()) launch += plan.is_persistent() ? kClusterNs : kMulticastNs;
  if (plan.fixed == FixedDimensions::kNone) launch += kRunTimeKNs;
  if (plan.fixed != FixedDimensions::kAll) launch += kRunTimeMnNs;
  return launch;
}

// Time that a staggered epilogue saves while sums leave a CTA. `busy`: the share of the main loop in which matrix
// instructions run. A main loop that waits for copies has no gap to fill: there the stagger costs time.
double StaggerSavesNs(const WgmmaPlan& plan, double step_compute_ns, double leave_ns, double busy) {
  if (!plan.staggers || plan.team() == 1) return 0;
  const double stagger_ns = (plan.team() - 1.0) / plan.team() * plan.StaggerSteps() * step_compute_ns;
  const double cover = plan.sum_columns() < kMinStaggerColumns ? 0
                       : plan.is_persistent()                        ? kPersistentStaggerCovers
                                                                     : kStaggerCovers;
  return busy * cover * std::min(leave_ns, stagger_ns) - (1 - busy) * stagger_ns;
}

// Operands that are still in L2 at the next call, thanks to a stream.
double BytesThatStay(const WgmmaPlan& plan, const Shape& shape, double l2_scale) {
  return plan.stream == Stream::kNone ? 0 : 1e6 * kStreamKeepsMb * l2_scale / plan.StreamReaders(shape);
}

// The work of a plan between launch and reduction, in times that overlap.
struct Work {
  double step_compute, compute, issue;               // matrix instructions
  double deliver, refill;                            // TMA into shared memory, the ring's latency
  double l2, l2_distinct, l2_apart, memory, traffic;  // where operands come from
  double tile_bytes;                                 // of C, that a CTA stores
};

double RefillNs(const WgmmaPlan& plan, const Placement& place, double steps, double step_compute, double memory_share) {
  if (!plan.is_ring()) return 0;
  // A persistent ring goes on from tile to tile.
  const double rings = plan.is_persistent() ? 1 : place.waves, ring_steps = place.waves * steps / rings;
  const double step_deliver = plan.StageBytes() / kDeliverBytesPerNs;
  const double step_refill =
      step_compute + kMemoryRefillNs * memory_share +
      (plan.is_persistent() ? kPersistentRefillNs + kPersistentRefillShare * step_deliver
                            : kRefillNs + kRefillShare * step_deliver);
  return rings * std::max(0.0, ring_steps - plan.stages) * step_refill / plan.stages;
}

// Splits of other tiles than the cluster's are elsewhere, so no two CTAs ask for the same lines at the same time.
double L2ApartNs(const WgmmaPlan& plan, const Shape& shape) {
  if (!plan.splits_are_cluster()) return 0;
  const double clusters = double(plan.TilesM(shape)) * plan.TilesN(shape) / plan.cluster_size();
  return clusters * 2 * shape.k * (plan.cluster_m * plan.tile_m + plan.cluster_n * plan.tile_n) / kL2ApartBytesPerNs;
}

Work WorkOf(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, const Placement& place) {
  const Shape& shape = gemm.shape;
  const double steps = plan.Steps(shape), cta_k = steps * plan.step_k;
  const double operand_mb = cost::OperandBytes(shape) / 1e6, l2_scale = device.l2_resident_mb / 40;
  const auto beyond = [&](double start_mb, double width_mb) {
    return std::clamp((operand_mb / l2_scale - start_mb) / width_mb, 0.0, 1.0);
  };
  const double l2_bytes = place.ctas * cta_k * 2 * CopiedLines(plan);
  const double distinct_bytes =
      place.ctas / (place.tiles_at_once * plan.split) * WaveBytes(plan, shape, place.tiles_at_once);
  const double memory_bytes = beyond(kL2HoldsMb, kL2LosesMb) * (std::max(cost::OperandBytes(shape), distinct_bytes) -
                                                                BytesThatStay(plan, shape, l2_scale));
  Work work;
  work.step_compute = StepComputeNs(plan, gemm, device);
  work.compute = place.per_sm * steps * work.step_compute;
  work.issue = place.waves * steps * (plan.is_persistent() ? kPersistentStepNs : kStepNs);
  work.deliver = place.per_sm * steps * (plan.StageBytes() / kDeliverBytesPerNs);
  work.refill = RefillNs(plan, place, steps, work.step_compute, std::min(1.0, memory_bytes / l2_bytes));
  work.l2 = l2_bytes / kL2BytesPerNs * (1 + kFarShare * beyond(kFarMb, kFarWidthMb));
  work.l2_distinct = distinct_bytes / kL2DistinctBytesPerNs;
  work.l2_apart = L2ApartNs(plan, shape);
  work.memory = memory_bytes / (1e3 * device.memory_tbs * kMemoryShare);
  work.traffic = kTrafficShare * work.l2_distinct;
  work.tile_bytes = 2.0 * plan.tile_m * plan.tile_n * BoxFactor(plan);
  return work;
}

double OneTileNs(const WgmmaPlan& plan, const Work& work, const Placement& place) {
  const double main = Overlap({work.compute, work.issue, work.deliver, work.refill, work.l2, work.l2_distinct,
                               work.l2_apart, work.memory})
                          .ns();
  const double rows_store = place.per_sm * work.tile_bytes / kStoreBytesPerNs / plan.split;
  const double store = plan.stores_by_tma() ? kTmaStoreNs + kTmaStoreShare * rows_store : rows_store;
  // Before the reduction each warpgroup sends its sums.
  const double sum_bytes = place.per_sm * plan.tile_m * plan.tile_n * 4;
  const double leaves = plan.split == 1             ? store
                        : plan.splits_are_cluster() ? SentInClusterNs(plan, sum_bytes)
                                                    : sum_bytes / kAddBytesPerNs;
  const double others_leave = leaves * (plan.team() - 1) / plan.team();
  return work.traffic + main + store -
         StaggerSavesNs(plan, place.waves * work.step_compute, others_leave, work.compute / main);
}

double PersistentNs(const WgmmaPlan& plan, const Work& work, const Placement& place) {
  const double drain = place.per_sm * work.tile_bytes / kDrainBytesPerNs;
  const double feed =
      Overlap({work.deliver, work.refill, work.l2, work.l2_distinct, work.memory + kL2MemoryShare * work.l2, drain}).ns();
  const double multiply = Overlap({work.compute, work.issue}).ns();
  if (plan.schedule == Schedule::kPingPong) {
    // Each of two warpgroups has every other tile, and stores it while the other one multiplies.
    const double epilogue = kAloneFactor * (kEpilogueNs + work.tile_bytes / kEpilogueBytesPerNs);
    const double team = ((1 + kPingPongShare) * multiply + place.waves * epilogue) / 2;
    return work.traffic + Overlap({multiply, team, feed}).ns() + epilogue;
  }
  const double epilogue = kEpilogueNs + work.tile_bytes / kEpilogueBytesPerNs * 2 / plan.warpgroups;
  const double busy = multiply / Overlap({multiply, feed}).ns();
  const double between = epilogue - StaggerSavesNs(plan, work.step_compute, epilogue, busy);
  const double last =
      epilogue - StaggerSavesNs(plan, work.step_compute, epilogue * (plan.team() - 1) / plan.team(), busy);
  return work.traffic + Overlap({multiply + (place.waves - 1) * between, feed}).ns() + last;
}

}  // namespace

double WgmmaTimeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const Placement place = PlacementOf(plan, gemm.shape, device);
  const Work work = WorkOf(plan, gemm, device, place);
  const double body = plan.is_persistent() ? PersistentNs(plan, work, place) : OneTileNs(plan, work, place);
  return LaunchNs(plan, place.waves) + body + ReductionNs(plan, place.per_sm);
}

double WaveBytes(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  return WaveBytes(plan, gemm.shape, PlacementOf(plan, gemm.shape, device).tiles_at_once);
}

}  // namespace gemmsmith
