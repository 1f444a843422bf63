// Whether a plan of the wgmma family can run, and if not, why.
#include <string_view>

#include "program/wgmma_family.h"
#include "program/wgmma_operands.h"
#include "program/wgmma_registers.h"

namespace gemmsmith {

namespace {

constexpr int kMaxResidentSteps = 32;
constexpr int kMostCtasOfCluster = 16;

std::string_view ScheduleWord(Schedule schedule) { return kScheduleWords[int(schedule)]; }

bool IsLean(const WgmmaPlan& plan, const Gemm& gemm) {
  return (plan.MovesRegisters() || plan.is_unaided()) && plan.schedule != Schedule::kPingPong &&
         plan.stages >= kStagesOfLean && plan.store_by_copy_engine() && !plan.is_swapped() &&
         gemm.kind.layout.b == Order::kColumn && !plan.shares_rest();
}

void CheckProblem(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (device.compute_capability() != 90)
    reasons.Add("wgmma needs compute capability 9.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
  if (gemm.kind.layout != kNn && gemm.kind.layout != kTn)
    reasons.Add("wgmma reads a row-major A (layouts nn and tn), not {}", Name(gemm.kind.layout));
  if (gemm.AlignmentA() < 8 || gemm.AlignmentB() < 8)
    reasons.Add("the copy engine needs lines of A and B at multiples of 16 bytes; lda is {}, ldb {}", gemm.LeadingA(),
                gemm.LeadingB());
  if (plan.store_by_copy_engine() && gemm.AlignmentC() < 8)
    reasons.Add("store=tma needs lines of C at multiples of 16 bytes; ldc is {}", gemm.LeadingC());
}

void CheckTile(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (plan.sum_rows() % 64 != 0)
    reasons.Add("roles={} takes {} by 64, not {}", kRoleWords[int(plan.roles)], plan.is_swapped() ? "tile_n" : "tile_m",
                plan.sum_rows());
  else if (plan.sum_rows() % (64 * plan.team()) != 0)
    reasons.Add("{} warpgroups cannot share {} {} in blocks of 64", plan.team(), plan.sum_rows(),
                plan.is_swapped() ? "columns" : "rows");
  if (gemm.kind.layout.b == Order::kRow && plan.tile_n % 16 != 0)
    reasons.Add("a row-major B comes in panels of 16 columns or more; tile_n is {}", plan.tile_n);
  const int limit = plan.MovesRegisters() ? plan.ConsumerRegisters() : RegisterLimit(plan.threads());
  const int others = IsLean(plan, gemm)  ? kLeastOtherRegisters
                     : plan.is_unaided() ? kOtherRegistersUnaided
                                         : kOtherRegisters;
  if (const int registers = plan.sums_per_thread() + others; registers > limit)
    reasons.Add("about {} registers a thread, at most {} with {} threads", registers, limit, plan.threads());
  if (const int compiled = RegisterLimit(plan.threads());
      plan.MovesRegisters() && plan.sum_columns() / 2 + kOtherRegistersOfInstruction > compiled)
    reasons.Add("an instruction of {} columns does not fit into the {} registers of {} threads", plan.sum_columns(),
                compiled, plan.threads());
  const int unit_m = plan.is_swapped() ? 8 : 64;
  const int unit_n = plan.is_swapped() ? 64 : gemm.kind.layout.b == Order::kRow ? 16 : 8;
  if (plan.tile_m >= gemm.shape.m + unit_m)
    reasons.Add("m {} leaves {} of the tile's {} rows idle", gemm.shape.m, plan.tile_m - gemm.shape.m, plan.tile_m);
  if (plan.tile_n >= gemm.shape.n + unit_n)
    reasons.Add("n {} leaves {} of the tile's {} columns idle", gemm.shape.n, plan.tile_n - gemm.shape.n, plan.tile_n);
}

void CheckStages(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const int steps = plan.Steps(gemm.shape);
  const bool few_steps_do = plan.is_persistent();  // the ring goes on into the next tile
  if (plan.step_k >= gemm.shape.k + 64)
    reasons.Add("k {} leaves a panel of 64 of step_k {} idle", gemm.shape.k, plan.step_k);
  if (plan.is_ring() && plan.stages > steps && !few_steps_do)
    reasons.Add("a split has {} steps of {} k, fewer than the {} stages", steps, plan.step_k, plan.stages);
  if (!plan.is_ring() && steps > kMaxResidentSteps)
    reasons.Add("{} resident steps of {} k, at most {}", steps, plan.step_k, kMaxResidentSteps);
  if (const int64_t bytes = plan.SmemBytes(gemm.shape); bytes > device.smem_bytes_per_block)
    reasons.Add("needs {} bytes of shared memory, {} gives a CTA {}", bytes, device.name, device.smem_bytes_per_block);
}

// CTAs that wait for each other, and keep equal shares of the tile. Clusters of 4 do not fill a GPU whose parts hold
// other numbers of multiprocessors.
void CheckExchange(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const int quads = plan.tile_m * plan.tile_n / (128 * plan.warpgroups) / 4;
  if (quads % plan.split != 0)
    reasons.Add("{} splits cannot keep equal shares of the {} quads of sums that a thread has", plan.split, quads);
  const int64_t ctas = int64_t(plan.TilesM(gemm.shape)) * plan.TilesN(gemm.shape) * plan.split;
  const int64_t sure = device.SureCtas(plan.threads(), plan.SmemBytes(gemm.shape));
  if (ctas > sure)
    reasons.Add("{} CTAs that wait for each other; {} is sure to hold {} at once", ctas, device.name, sure);
  if (plan.cluster_size() > 2) reasons.Add("splits that wait for each other come in clusters of at most 2");
}

void CheckSplit(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.split == 1 && plan.reduction != SplitReduction::kAdd)
    reasons.Add("reduction says how split CTAs meet; it stays add where split is 1");
  const int steps = CeilDivide(gemm.shape.k, plan.step_k);
  if (steps < plan.split) reasons.Add("k {} makes {} steps, too few for {} splits", gemm.shape.k, steps, plan.split);
  if (plan.stores_shares() && plan.store_by_copy_engine())
    reasons.Add("splits that each store a share of the tile store rows");
  if (plan.stores_shares() && plan.is_swapped())
    reasons.Add("splits that each store a share of the tile have straight roles");
  if (plan.splits_exchange()) CheckExchange(plan, gemm, device, reasons);
  if (!plan.splits_are_cluster()) return;
  if (const int ctas = plan.CtasOfCluster(); ctas > kMostCtasOfCluster)
    reasons.Add("{} splits of {} x {} tiles are a cluster of {} CTAs, at most {}", plan.split, plan.cluster_m,
                plan.cluster_n, ctas, kMostCtasOfCluster);
  if (plan.raster > 1 && plan.cluster_size() > 1)
    reasons.Add("tiles that stand in a cluster beside their splits have raster m or n");
}

// Where C is most of what is moved, and more than stays in L2 anyway.
bool MostlyWritesC(const Gemm& gemm) { return gemm.shape.k <= 256 && int64_t(gemm.shape.m) * gemm.shape.n >= 1 << 22; }

// Tiles that whole turns leave over, shared along K by CTAs that wait for each other. What they hand over takes some
// 8 us, which only long products win back.
void CheckSharedRest(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, int64_t tiles, Reasons& reasons) {
  constexpr int kFewestSteps = 32;
  if (plan.schedule != Schedule::kCooperative || plan.cluster_size() > 1)
    reasons.Add("ctas=shared is for schedule cooperative without clusters");
  if (gemm.kind.accumulation != Accumulation::kF32) reasons.Add("ctas=shared hands over f32 sums");
  if (const int steps = plan.FewestSteps(gemm.shape); steps < kFewestSteps)
    reasons.Add("ctas=shared takes K of {} steps, not {}", kFewestSteps, steps);
  if (!SavesPowerByPlace(gemm.shape)) reasons.Add("ctas=shared pays where m n k is 2^35 or more");
  if (!SharedRestSteps(tiles, plan.FewestSteps(gemm.shape), plan.step_k, device.multiprocessors))
    reasons.Add("{} tiles leave nothing over that {} multiprocessors could share by four each at most", tiles,
                device.multiprocessors);
  if (device.CtasBySmem(plan.SmemBytes(gemm.shape)) != device.multiprocessors)
    reasons.Add("ctas=shared is for CTAs that fill a multiprocessor each");
}

// Fewer CTAs draw less power, which is time where a call is long: 1.7 to 2 % of the settled time of large tiles at
// K >= 4096 with 128 CTAs instead of 132 (H200, 2026-11-21), nothing where K is short.
void CheckCtas(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, int64_t tiles, Reasons& reasons) {
  constexpr int kLongK = 2048;
  if (plan.shares_rest()) return CheckSharedRest(plan, gemm, device, tiles, reasons);
  if (!plan.even_turns()) return;
  const int64_t turns = (tiles + device.multiprocessors - 1) / device.multiprocessors;
  if (gemm.shape.k < kLongK || (tiles + turns - 1) / turns >= device.multiprocessors)
    reasons.Add("ctas=even saves power where K is {} or more and {} tiles do not need all {} multiprocessors", kLongK,
                tiles, device.multiprocessors);
}

// Of A and B.
double OperandMegabytes(const Gemm& gemm) { return 2e-6 * gemm.shape.k * (double(gemm.shape.m) + gemm.shape.n); }

void CheckPlace(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (!plan.is_placed) return;
  if (!plan.is_persistent()) return reasons.Add("place=near is for persistent schedules");
  if (plan.even_turns())
    reasons.Add("place=near takes all multiprocessors: ctas=even leaves some out, wherever they are");
  if (!SavesPowerByPlace(gemm.shape)) reasons.Add("place=near saves power where m n k is 2^35 or more");
}

void CheckWalk(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.walk == Walk::kOnward) return;
  if (plan.turns_back() && !plan.is_persistent()) return reasons.Add("walk=back_and_forth is for persistent schedules");
  if (plan.alternates() && plan.is_persistent()) return reasons.Add("walk=alternating is for schedule one");
  const int64_t ctas = int64_t(plan.TilesM(gemm.shape)) * plan.TilesN(gemm.shape) * plan.split;
  const int64_t most = device.CtasBySmem(plan.SmemBytes(gemm.shape), plan.CtasOfCluster());
  if (plan.alternates() && ctas > most)
    reasons.Add("walk=alternating is for CTAs that are all there at once: {}, not {}", most, ctas);
  const double megabytes = OperandMegabytes(gemm) + 2e-6 * double(gemm.shape.m) * gemm.shape.n;
  if (megabytes <= device.l2_resident_mb) reasons.Add("{:.0f} MB of A, B and C stay in L2 on any walk", megabytes);
}

// Without a producer. Copies for the next tile begin while this one is multiplied, but not for the one behind it.
void CheckUnaided(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (plan.warpgroups < 2 || plan.warpgroups > 3)
    reasons.Add("two or three warpgroups do without a producer, not {}", plan.warpgroups);
  if (plan.is_swapped()) reasons.Add("warpgroups do without a producer with straight roles only");
  if (const int steps = plan.FewestSteps(gemm.shape); steps < plan.stages)
    reasons.Add("tiles of {} steps in a ring of {} stages: without a producer no tile may be shorter", steps,
                plan.stages);
}

// A persistent CTA is worth it where it has more than one tile.
void CheckSchedule(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.store == Store::kBoxesFirstOut && !(plan.is_persistent() && (MostlyWritesC(gemm) || plan.turns_back())))
    reasons.Add(
        "store=tma_first_out is for persistent kernels that mostly write C (k to 256, 2^22 elements and more), or that "
        "walk back and forth");
  if (!plan.is_persistent()) {
    if (plan.ctas != Ctas::kAll) reasons.Add("ctas stays all where every CTA has one tile");
    return;
  }
  if (!plan.is_ring()) reasons.Add("schedule {} feeds its tiles through a ring of stages", ScheduleWord(plan.schedule));
  if (plan.split > 1) reasons.Add("schedule {} does not split K", ScheduleWord(plan.schedule));
  if (plan.schedule == Schedule::kPingPong && plan.warpgroups != 2)
    reasons.Add("two warpgroups take turns, not {}", plan.warpgroups);
  if (plan.schedule == Schedule::kCooperative && plan.warpgroups > 3)
    reasons.Add("at most three warpgroups beside the producers");
  if (plan.is_unaided()) CheckUnaided(plan, gemm, reasons);
  if (!plan.store_by_copy_engine() && gemm.AlignmentC() >= 8)
    reasons.Add("schedule {} stores by the copy engine where lines of C allow it", ScheduleWord(plan.schedule));
  const int64_t tiles = int64_t(plan.TilesM(gemm.shape)) * plan.TilesN(gemm.shape);
  if (tiles <= device.multiprocessors && !plan.shares_rest())
    reasons.Add("{} tiles for {} multiprocessors: schedule one says it", tiles, device.multiprocessors);
  CheckCtas(plan, gemm, device, tiles, reasons);
}

// In turn: a waiting warpgroup must not need what the one before does later, nor may that one come to the end of
// another tile meanwhile.
void CheckFinish(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (!plan.ends_in_turn) return;
  if (plan.team() == 1) return reasons.Add("finish=in_turn is for warpgroups that share a tile");
  if (plan.is_swapped()) reasons.Add("warpgroups end a tile in turn with straight roles only");
  const int steps = plan.FewestSteps(gemm.shape);
  if (steps <= plan.TurnSteps())
    reasons.Add("{} steps of {} k leave warpgroups nothing to share before turns of {}", steps, plan.step_k,
                plan.TurnSteps());
  if (plan.is_persistent() && steps < plan.stages)
    reasons.Add("tiles of {} steps in a ring of {} stages: warpgroups that end in turn could be a tile apart", steps,
                plan.stages);
  if (plan.splits_are_cluster() && plan.StagingInStages(gemm.shape))
    reasons.Add("no room beside the stages for the sums of warpgroups that end in turn");
}

// What few read, at about the same time, and L2 could not keep for the next call either, but for the part that it
// shall.
void CheckStream(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.keeps_lines && plan.keep == 0) reasons.Add("kept=lines is for a share, and keep says none");
  if (plan.keeps_lines && !plan.alternates()) reasons.Add("kept=lines is for launches that alternate");
  if (plan.stream == Stream::kNone) {
    if (plan.keep > 0) reasons.Add("keep is for a part of a streamed operand, and none is streamed");
    return;
  }
  const bool is_a = plan.stream == Stream::kA;
  constexpr int kMostReaders = 4;
  if (const int readers = plan.StreamReaders(gemm.shape); readers > kMostReaders)
    reasons.Add("{} {} of clusters read {}: it should stay in L2", readers, is_a ? "columns" : "rows",
                is_a ? "A" : "B");
  if (const double megabytes = OperandMegabytes(gemm); megabytes <= device.l2_resident_mb)
    reasons.Add("operands of {:.0f} MB stay in L2 from call to call: nothing should leave it first", megabytes);
  if (const double kept = 1e-6 * plan.KeptBytes(gemm.shape); kept > device.l2_resident_mb)
    reasons.Add("keep would hold {:.0f} MB, and {:.0f} stay in L2", kept, device.l2_resident_mb);
  const bool is_fine = !plan.KeepsWholeSixteenths();
  if (plan.keeps_lines && is_fine) reasons.Add("L2 chooses whole sixteenths of lines");
  if (const int steps = CeilDivide(gemm.shape.k, plan.step_k); is_fine && steps < kKeepPeriod)
    reasons.Add("parts of one of sixteen steps take {} steps, and k {} makes {}", kKeepPeriod, gemm.shape.k, steps);
}

void CheckClusterAndGrid(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const int tiles_m = CeilDivide(gemm.shape.m, plan.tile_m), tiles_n = CeilDivide(gemm.shape.n, plan.tile_n);
  if (plan.cluster_size() > 4) reasons.Add("a cluster of {} x {} CTAs, at most 4", plan.cluster_m, plan.cluster_n);
  if (plan.cluster_m > tiles_m || plan.cluster_n > tiles_n)
    reasons.Add("a cluster of {} x {} CTAs for {} x {} tiles", plan.cluster_m, plan.cluster_n, tiles_m, tiles_n);
  for (const StagedOperand& operand : {OperandA(plan, gemm), OperandB(plan, gemm)})
    if (!operand.SlicesArePanels() && operand.lines % (8 * operand.peers) != 0)
      reasons.Add("{} CTAs cannot copy {} lines in slices of 8", operand.peers, operand.lines);
  if (plan.raster != 0 && (tiles_m <= plan.cluster_m || tiles_n <= plan.cluster_n))
    reasons.Add("raster stays m where the tiles make one row or column");
  if (plan.raster > 1 && plan.raster * plan.cluster_m >= tiles_m)
    reasons.Add("groups of {} clusters, and {} tiles along m: raster m says it", plan.raster, tiles_m);
  const int64_t y = plan.is_persistent() ? 1
                    : plan.raster == 0   ? plan.TilesN(gemm.shape)
                    : plan.raster == 1   ? plan.TilesM(gemm.shape)
                                         : 1;
  if (y > device.max_grid_y) reasons.Add("{} tiles along the grid's y, at most {}", y, device.max_grid_y);
}

}  // namespace

bool SavesPowerByPlace(const Shape& shape) {
  constexpr double kFewestProducts = 1ll << 35;  // 0.1 ms
  return shape.Volume() >= kFewestProducts;
}

void CheckWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  CheckProblem(plan, gemm, device, reasons);
  CheckTile(plan, gemm, reasons);
  CheckStages(plan, gemm, device, reasons);
  CheckSchedule(plan, gemm, device, reasons);
  CheckSplit(plan, gemm, device, reasons);
  CheckPlace(plan, gemm, reasons);
  CheckWalk(plan, gemm, device, reasons);
  CheckFinish(plan, gemm, reasons);
  CheckStream(plan, gemm, device, reasons);
  CheckClusterAndGrid(plan, gemm, device, reasons);
}

}  // namespace gemmsmith
