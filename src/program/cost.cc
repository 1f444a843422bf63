#include "program/cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

double Ceil(double a, double b) { return std::ceil(a / b); }

// Bytes of each matrix counted once; where they outgrow L2 they come from memory in every call.
double OperandBytes(const Shape& shape) {
  return 2 * (double(shape.m) * shape.k + double(shape.n) * shape.k + double(shape.m) * shape.n);
}
bool StaysInL2(const Shape& shape, const Device& device) { return OperandBytes(shape) <= device.l2_resident_mb * 1e6; }
// 93 % of what a copy reaches (store and skinny shapes of the H200 study).
double MemoryBytesPerNs(const Device& device) { return 0.93e3 * device.memory_tbs; }

// Adding f32 sums to L2 from one multiprocessor, of both families, at any split.
constexpr double kAddBytesPerNs = 20.2;
// Exchanging sums through slots in L2, whatever the splits: 121 pairs of plans that add them instead and differ in
// nothing else (H200, 2026-11-22; docs/lab/latency.md), 3.8 % of the time of such a call from these two.
constexpr double kExchangeNs = 1224, kExchangeBytesPerNs = 26.3;
// What a trigger costs in a launch that nothing chains to: not measured, there for the order.
constexpr double kTriggerNs[] = {0, 15, 12, 10, 8};  // none, early, soon, late, last

// Fitted, together with those of one-tile wgmma plans, to 50,721 screened trials (data/h200 and the rounds of
// docs/lab/latency.md, 2026-11-21).
namespace direct {
constexpr double kLaunchNs = 1165;       // node, first load, store: a kernel with nothing to do takes 0.57 us
constexpr double kCtaNs = 0.27;          // each CTA beyond one a multiprocessor
constexpr double kRoundNs = 89.8;        // exposed latency of one round of loads and matrix instructions
constexpr double kLineNs = 37.9;         // each further 8-row line of operands that a warp loads in a round
constexpr double kLoadBytesPerNs = 101;  // into one multiprocessor, counting what warps load twice
constexpr double kWarpSumNs = 80;        // a doubling of the warps that meet in shared memory, and
constexpr double kWarpSumBytesPerNs = 65.5;
constexpr double kStoreBytesPerNs = 72;
constexpr double kAddNs = 1192, kOrderedSplitNs = 40.8;
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

// One tile a CTA: see above. Persistent: fitted to 585 times of bare kernels of every schedule, each the best of one
// structure on one of 94 large shapes (H200, 2026-11-21; docs/lab/cost_model.md).
namespace wgmma {
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
constexpr double kRowMajorShare = 0.015, kNarrowPanelShare = 0.076;  // row-major B; in panels of 16 or 32 columns
constexpr double kTwoShare = 0.029, kThreeShare = 0.032;             // warpgroups that share a tile
constexpr double kL2BytesPerNs = 19600;         // into all multiprocessors, what a cluster shares counted once
constexpr double kL2DistinctBytesPerNs = 6200;  // what a wave shares counted once, and
constexpr double kTrafficShare = 0.01;          // of that in any case: orders rasters where something else takes longer
constexpr double kL2ApartBytesPerNs = 9100;     // of what only CTAs of one cluster share (docs/lab/neighbours.md)
constexpr double kMemoryShare = 0.95;           // of a copy's rate
constexpr double kL2HoldsMb = 21.9, kL2LosesMb = 31.8;  // operands of 22 MB stay in L2, of 54 MB nothing does
constexpr double kStreamKeepsMb = 7;  // and so much more stays where copies of an operand that is read once leave first
// Of what a plan would have L2 keep so much stays; what is more is lost again, and takes of the rest. An estimate.
constexpr double kKeepRoomMb = 25;
// Where every other launch begins at the other end, so much as if it stayed: 16 of 17 to 30 MB, since what is in L2 is
// not there at once (H100s and H200s, November 2026; docs/lab/latency.md).
constexpr double kAlternatingKeepsMb = 16;
// What is kept line by line comes between what memory brings: so much more, of no more than is asked for. An estimate
// from 30.3 us without and 27.3 us with a share of 134 MB (H200, 2026-11-27).
constexpr double kLinesKeepMb = 13;
constexpr double kFarMb = 54.5, kFarWidthMb = 12.4, kFarShare = 0.53;  // and L2 is so much slower from there on
constexpr double kL2MemoryShare = 0.125;  // of the traffic through L2 that memory traffic waits for
// One tile a CTA: the store behind the main loop.
constexpr double kStoreBytesPerNs = 39.9, kTmaStoreShare = 0.907, kTmaStoreNs = 29;
// Persistent: until the sums are on their way to C, by two warpgroups or (half as fast, but while the other one
// multiplies) by one; and how fast C leaves a multiprocessor meanwhile.
constexpr double kEpilogueNs = 186, kEpilogueBytesPerNs = 118, kAloneFactor = 1.425, kTurnShare = 0.052;
constexpr double kDrainBytesPerNs = 33.2;
constexpr double kFirstOutShare = 0.99;  // of that where C is the first to leave L2 (0.988 in the median, 0.87 to 1.03)
// Ending in turn: what the turns cover of the others' stores (180 pairs of plans, docs/lab/throughput.md). Nothing
// where the instructions of one warpgroup alone have too few columns to keep the matrix units busy.
constexpr double kTurnsCover = 0.7, kPersistentTurnsCover = 0.25;
constexpr int kLeastTurnColumns = 128;
// The factor of a TMA store whose boxes of C are narrower than a line of 128 bytes. Estimates, for the order.
constexpr double kBoxes32 = 1.05, kBoxes16 = 1.3, kBoxes8 = 1.7;
constexpr double kAddNs = 1245;
constexpr double kSharedRestNs = 8'000;  // of what is handed over where tiles are shared; not fitted
// Splits that are a cluster: for each of them and each tile of it, and what a CTA sends the others. From 4,400 plans of
// 512 to 4,096 k within 1.3 of the best of their problem, 10 % off (root of the mean square; H100 and H200,
// 2026-11-27).
constexpr double kClusterNsASide = 27, kClusterBytesPerNs = 24.6;
// Estimates, there for the order: what each costs where it does not pay.
constexpr double kRowsPerWarpgroupNs = 30;                 // each further 64 rows of one warpgroup
constexpr double kRunTimeKNs = 35.1, kRunTimeMnNs = 28.5;  // compile-time k alone: 1.03x at k = 64
constexpr double kTwoStagesShare = 0.14;                   // two stages against three took 10 to 24 % longer at 8192^3
// Columns that fill no whole lines of 128 bytes, and that are no multiple of 16. Measured for ping-pong tiles of 128
// rows; taken for other schedules and stores too.
constexpr double kOddTileShare = 0.006, kOddEightsShare = 0.012;
// Calls so long run at the power cap, where time is energy: reads of shared memory and of L2, by the instruction's
// columns and the tile's; and two teams cost more than one. From six kernels on eight shapes, settled.
constexpr double kCappedNs = 250'000, kSharedEnergy = 0.1, kL2Energy = 0.1, kTurnsEnergy = 0.01;
// 128 CTAs instead of 132: the power that the others do not draw, and what that costs elsewhere.
constexpr double kEvenSaves = 0.015, kEvenCosts = 0.005;
}  // namespace wgmma

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

// How the tiles of a wgmma plan lie on the device.
struct Placement {
  double usable;         // multiprocessors
  double occupancy;      // CTAs on each
  double ctas;           // tiles, times splits
  double per_sm;         // of them on the busiest multiprocessor
  double waves;          // one after the other
  double tiles_at_once;  // on the device
};

double WgmmaOccupancy(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  const int64_t by_smem = device.smem_bytes_per_multiprocessor / (plan.SmemBytes(shape) + 1024);
  const int registers = std::min(255, plan.sums_per_thread() + 50);
  const int by_registers = plan.MovesRegisters() ? 1 : device.registers_per_block / (plan.threads() * registers);
  return double(std::max<int64_t>(1, std::min<int64_t>({by_smem, by_registers, 2048 / plan.threads()})));
}

Placement PlacementOf(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  Placement place;
  place.occupancy = WgmmaOccupancy(plan, shape, device);
  place.usable =
      std::max(1.0, double(device.CtasInClusters(plan.CtasOfCluster(), int64_t(place.occupancy))) / place.occupancy);
  place.ctas = Ceil(shape.m, plan.tile_m) * Ceil(shape.n, plan.tile_n) * plan.split;
  place.per_sm = Ceil(place.ctas, place.usable);
  if (plan.shares_rest())
    if (const auto rest = SharedRestSteps(int64_t(place.ctas), plan.Steps(shape), plan.step_k, int(place.usable)))
      place.per_sm += double(*rest) / plan.Steps(shape) - 1;
  place.waves = plan.shares_rest() ? place.per_sm / place.occupancy : Ceil(place.per_sm, place.occupancy);
  place.tiles_at_once =
      std::clamp(std::floor(place.usable * place.occupancy / plan.split), 1.0, place.ctas / plan.split);
  return place;
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

// What its boxes make of the copy engine's store.
double BoxFactor(const WgmmaPlan& plan) {
  if (!plan.store_by_copy_engine()) return 1;
  const int width = plan.BoxWidth();
  const double width_factor = width == 64   ? 1
                              : width == 32 ? wgmma::kBoxes32
                              : width == 16 ? wgmma::kBoxes16
                                            : wgmma::kBoxes8;
  const double twice_factor = double(plan.ColumnsInBoxes()) / plan.BoxedColumns();
  return width_factor * twice_factor * (plan.store == Store::kBoxesFirstOut ? wgmma::kFirstOutShare : 1);
}

// Share of the work of multiplying that comes on top.
double SlowDown(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const double work_ns = 2e-3 * double(gemm.shape.Volume()) / device.peak_half_tflops;
  const double reads = 64.0 / std::max(double(plan.sum_columns()), wgmma::kNarrowestN);
  double share = gemm.kind.layout.b == Order::kRow ? wgmma::kRowMajorShare : 0;
  if (plan.shares_copies()) share += wgmma::kClusterShare;
  if (plan.stages == 2) share += wgmma::kTwoStagesShare;
  if (plan.sum_columns() % 64 != 0)
    share += plan.sum_columns() % 32 == 0 ? wgmma::kOddTileShare / 2 : wgmma::kOddTileShare;
  if (plan.sum_columns() % 16 != 0) share += wgmma::kOddEightsShare;
  const bool takes_turns = plan.schedule == Schedule::kPingPong;
  if (work_ns > wgmma::kCappedNs)
    return share + wgmma::kSharedEnergy * reads +
           wgmma::kL2Energy * 64 * CopiedLines(plan) / (double(plan.tile_m) * plan.tile_n) +
           (takes_turns ? wgmma::kTurnsEnergy : 0) - (plan.even_turns() ? wgmma::kEvenSaves : 0);
  if (plan.even_turns()) share += wgmma::kEvenCosts;
  if (!takes_turns && plan.warpgroups > 1) share += plan.warpgroups == 2 ? wgmma::kTwoShare : wgmma::kThreeShare;
  return share + wgmma::kReadShare * reads;
}

// Of the matrix instructions of one k step.
double StepComputeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const double flop_per_ns = wgmma::kPeakShare * 1e3 * device.peak_half_tflops / device.multiprocessors;
  const bool narrow_panels = gemm.kind.layout.b == Order::kRow && plan.tile_n % 64 != 0;
  const double columns =
      std::max(double(plan.sum_columns()), wgmma::kNarrowestN) * (narrow_panels ? 1 + wgmma::kNarrowPanelShare : 1);
  return 2 * plan.sum_rows() * columns * plan.step_k / flop_per_ns * (1 + SlowDown(plan, gemm, device));
}

double SentInClusterNs(const WgmmaPlan& plan, double sum_bytes) {
  return sum_bytes * (plan.split - 1) / plan.split / wgmma::kClusterBytesPerNs;
}

double WgmmaMeetNs(const WgmmaPlan& plan, double per_sm) {
  if (plan.shares_rest()) return wgmma::kSharedRestNs;
  if (plan.split == 1) return 0;
  const double sum_bytes = per_sm * plan.tile_m * plan.tile_n * 4;
  if (plan.splits_exchange()) return kExchangeNs + sum_bytes / kExchangeBytesPerNs;
  if (!plan.splits_are_cluster()) return wgmma::kAddNs + sum_bytes / kAddBytesPerNs;
  return wgmma::kClusterNsASide * (plan.split + plan.cluster_size()) + SentInClusterNs(plan, sum_bytes);
}

double WgmmaLaunchNs(const WgmmaPlan& plan, double waves) {
  double launch = wgmma::kLaunchNs + kTriggerNs[int(plan.trigger)];
  if (!plan.is_persistent()) launch += wgmma::kWaveNs * (waves - 1);
  launch += wgmma::kRowsPerWarpgroupNs * (plan.sum_rows() / (64 * plan.warpgroups) - 1);
  if (plan.shares_copies()) launch += plan.is_persistent() ? wgmma::kClusterNs : wgmma::kMulticastNs;
  if (plan.fixed == FixedDimensions::kNone) launch += wgmma::kRunTimeKNs;
  if (plan.fixed != FixedDimensions::kAll) launch += wgmma::kRunTimeMnNs;
  return launch;
}

// What ending in turn saves of the time in which sums leave a CTA. `busy`: the share of the main loop in which matrix
// instructions run; where copies are waited for, the last warpgroup's turn comes behind the last copy instead of
// filling a gap.
double TurnsSaveNs(const WgmmaPlan& plan, double step_compute_ns, double leave_ns, double busy) {
  if (!plan.ends_in_turn || plan.team() == 1) return 0;
  const double turns_ns = (plan.team() - 1.0) / plan.team() * plan.TurnSteps() * step_compute_ns;
  const double cover = plan.sum_columns() < wgmma::kLeastTurnColumns ? 0
                       : plan.is_persistent()                        ? wgmma::kPersistentTurnsCover
                                                                     : wgmma::kTurnsCover;
  return busy * cover * std::min(leave_ns, turns_ns) - (1 - busy) * turns_ns;
}

// Of the operands, in L2 until the next call; of all shares that alternating launches keep the same.
double BytesThatStay(const WgmmaPlan& plan, const Shape& shape, double l2_scale) {
  if (plan.alternates()) {
    const double of_lines =
        plan.keeps_lines ? std::min(plan.KeptBytes(shape), 1e6 * wgmma::kLinesKeepMb * l2_scale) : 0;
    return 1e6 * wgmma::kAlternatingKeepsMb * l2_scale + of_lines;
  }
  if (plan.stream == Stream::kNone) return 0;
  const double by_itself = 1e6 * wgmma::kStreamKeepsMb * l2_scale / plan.StreamReaders(shape);
  const double asked = plan.KeptBytes(shape), room = 1e6 * wgmma::kKeepRoomMb * l2_scale;
  return std::max(by_itself, asked - 2 * std::max(0.0, asked - room));
}

// Everything between launch and the meeting of splits.
double WgmmaBodyNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, const Placement& place) {
  const Shape& shape = gemm.shape;
  const double steps = plan.Steps(shape), cta_k = steps * plan.step_k;
  const double step_compute = StepComputeNs(plan, gemm, device);
  const double compute = place.per_sm * steps * step_compute;
  const double issue = place.waves * steps * (plan.is_persistent() ? wgmma::kPersistentStepNs : wgmma::kStepNs);
  const double step_deliver = plan.StageBytes() / wgmma::kDeliverBytesPerNs;
  const double deliver = place.per_sm * steps * step_deliver;
  // A persistent ring goes on from tile to tile.
  const double rings = plan.is_persistent() ? 1 : place.waves, ring_steps = place.waves * steps / rings;
  const double operand_mb = OperandBytes(shape) / 1e6, l2_scale = device.l2_resident_mb / 40;
  const auto beyond = [&](double start_mb, double width_mb) {
    return std::clamp((operand_mb / l2_scale - start_mb) / width_mb, 0.0, 1.0);
  };
  const double from_memory = beyond(wgmma::kL2HoldsMb, wgmma::kL2LosesMb);
  const double far = wgmma::kFarShare * beyond(wgmma::kFarMb, wgmma::kFarWidthMb);
  const double l2_bytes = place.ctas * cta_k * 2 * CopiedLines(plan);
  const double l2 = l2_bytes / wgmma::kL2BytesPerNs * (1 + far);
  const double distinct_bytes =
      place.ctas / (place.tiles_at_once * plan.split) * WaveBytes(plan, shape, place.tiles_at_once);
  const double l2_distinct = distinct_bytes / wgmma::kL2DistinctBytesPerNs;
  // Splits of other tiles than the cluster's stand elsewhere, and nobody asks for the same lines at the same time.
  const double clusters = double(plan.TilesM(shape)) * plan.TilesN(shape) / plan.cluster_size();
  const double l2_apart = plan.splits_are_cluster()
                              ? clusters * 2 * shape.k * (plan.cluster_m * plan.tile_m + plan.cluster_n * plan.tile_n) /
                                    wgmma::kL2ApartBytesPerNs
                              : 0;
  const double kept_bytes = BytesThatStay(plan, shape, l2_scale);
  const double memory_bytes = from_memory * (std::max(OperandBytes(shape), distinct_bytes) - kept_bytes);
  const double memory = memory_bytes / (1e3 * device.memory_tbs * wgmma::kMemoryShare);
  const double step_refill =
      step_compute + wgmma::kMemoryRefillNs * std::min(1.0, memory_bytes / l2_bytes) +
      (plan.is_persistent() ? wgmma::kPersistentRefillNs + wgmma::kPersistentRefillShare * step_deliver
                            : wgmma::kRefillNs + wgmma::kRefillShare * step_deliver);
  const double refill =
      plan.is_ring() ? rings * std::max(0.0, ring_steps - plan.stages) * step_refill / plan.stages : 0;
  const double traffic = wgmma::kTrafficShare * l2_distinct;
  const double tile_bytes = 2.0 * plan.tile_m * plan.tile_n * BoxFactor(plan);

  if (!plan.is_persistent()) {
    const double main = Overlap({compute, issue, deliver, refill, l2, l2_distinct, l2_apart, memory}).ns();
    const double rows_store = place.per_sm * tile_bytes / wgmma::kStoreBytesPerNs / plan.split;
    const double store =
        plan.store_by_copy_engine() ? wgmma::kTmaStoreNs + wgmma::kTmaStoreShare * rows_store : rows_store;
    // Before splits meet, each warpgroup sends its sums.
    const double sum_bytes = place.per_sm * plan.tile_m * plan.tile_n * 4;
    const double leaves = plan.split == 1             ? store
                          : plan.splits_are_cluster() ? SentInClusterNs(plan, sum_bytes)
                                                      : sum_bytes / kAddBytesPerNs;
    const double others_leave = leaves * (plan.team() - 1) / plan.team();
    return traffic + main + store - TurnsSaveNs(plan, place.waves * step_compute, others_leave, compute / main);
  }
  const double drain = place.per_sm * tile_bytes / wgmma::kDrainBytesPerNs;
  const double feed = Overlap({deliver, refill, l2, l2_distinct, memory + wgmma::kL2MemoryShare * l2, drain}).ns();
  const double multiply = Overlap({compute, issue}).ns();
  if (plan.schedule != Schedule::kPingPong) {
    const double epilogue = wgmma::kEpilogueNs + tile_bytes / wgmma::kEpilogueBytesPerNs * 2 / plan.warpgroups;
    const double busy = multiply / Overlap({multiply, feed}).ns();
    const double between = epilogue - TurnsSaveNs(plan, step_compute, epilogue, busy);
    const double last = epilogue - TurnsSaveNs(plan, step_compute, epilogue * (plan.team() - 1) / plan.team(), busy);
    return traffic + Overlap({multiply + (place.waves - 1) * between, feed}).ns() + last;
  }
  // Each of two teams has every other tile, and stores it while the other one multiplies.
  const double epilogue = wgmma::kAloneFactor * (wgmma::kEpilogueNs + tile_bytes / wgmma::kEpilogueBytesPerNs);
  const double team = ((1 + wgmma::kTurnShare) * multiply + place.waves * epilogue) / 2;
  return traffic + Overlap({multiply, team, feed}).ns() + epilogue;
}

double WgmmaTimeNs(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const Placement place = PlacementOf(plan, gemm.shape, device);
  return WgmmaLaunchNs(plan, place.waves) + WgmmaBodyNs(plan, gemm, device, place) + WgmmaMeetNs(plan, place.per_sm);
}

}  // namespace

double WaveBytes(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (plan.family != FamilyId::kWgmma) return 0;
  const WgmmaPlan read(plan);
  return WaveBytes(read, gemm.shape, PlacementOf(read, gemm.shape, device).tiles_at_once);
}

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
