// Whether a plan of the wgmma family can run, and if not, why.
#include "program/wgmma/wgmma_legality.h"

#include <string_view>

#include "program/wgmma/registers.h"
#include "program/wgmma/staged_operand.h"

namespace gemmsmith {

namespace {

constexpr int kMaxCtasOfCluster = 16;

std::string_view NameOf(Schedule schedule) {
  return schedule == Schedule::kPingPong ? "pingpong" : schedule == Schedule::kOneTile ? "one" : "cooperative";
}

bool IsLean(const WgmmaPlan& plan, const Gemm& gemm) {
  return plan.MovesRegisters() && plan.schedule != Schedule::kPingPong && plan.stages >= kStagesOfLean &&
         plan.stores_by_tma() && !plan.is_swapped() && gemm.kind.layout == kTn;
}

int OtherRegisters(const WgmmaPlan& plan, const Gemm& gemm) {
  const bool is_across_k = gemm.kind.layout.a == Order::kColumn;
  if (plan.is_swapped() && is_across_k && PanelWidth(plan.tile_m) == 16) return kOtherRegistersOfNarrowA;
  return IsLean(plan, gemm) ? kLeastOtherRegisters : kOtherRegisters;
}

void CheckProblem(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (device.compute_capability() != 90)
    reasons.Add("wgmma needs compute capability 9.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
  if (gemm.AlignmentA() < 8 || gemm.AlignmentB() < 8)
    reasons.Add("TMA needs lines of A and B at multiples of 16 bytes; lda is {}, ldb {}", gemm.LeadingA(),
                gemm.LeadingB());
  if (plan.stores_by_tma() && gemm.AlignmentC() < 8)
    reasons.Add("store=tma needs lines of C at multiples of 16 bytes; ldc is {}", gemm.LeadingC());
}

void CheckRegisters(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  const int compiled = RegisterLimit(plan.threads());
  const int limit = plan.MovesRegisters() ? plan.ConsumerRegisters() : compiled;
  if (const int registers = plan.sums_per_thread() + OtherRegisters(plan, gemm); registers > limit)
    reasons.Add("about {} registers a thread, at most {} with {} threads", registers, limit, plan.threads());
  if (plan.MovesRegisters() && plan.sum_columns() / 2 + kOtherRegistersOfInstruction > compiled)
    reasons.Add("an instruction of {} columns does not fit into the {} registers of {} threads", plan.sum_columns(),
                compiled, plan.threads());
}

void CheckTile(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (plan.sum_rows() % 64 != 0)
    reasons.Add("{} roles take {} by 64, not {}", plan.is_swapped() ? "swapped" : "straight",
                plan.is_swapped() ? "tile_n" : "tile_m", plan.sum_rows());
  else if (plan.sum_rows() % (64 * plan.team()) != 0)
    reasons.Add("{} warpgroups cannot share {} {} in blocks of 64", plan.team(), plan.sum_rows(),
                plan.is_swapped() ? "columns" : "rows");
  if (gemm.kind.layout.a == Order::kColumn && plan.tile_m % 16 != 0)
    reasons.Add("a column-major A comes in panels of 16 rows or more; tile_m is {}", plan.tile_m);
  if (gemm.kind.layout.b == Order::kRow && plan.tile_n % 16 != 0)
    reasons.Add("a row-major B comes in panels of 16 columns or more; tile_n is {}", plan.tile_n);
}

void CheckStages(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (const int steps = plan.Steps(gemm.shape); !plan.is_ring() && steps > kMostStages)
    reasons.Add("{} resident steps of {} k, at most {}", steps, plan.step_k, kMostStages);
  if (const int64_t bytes = plan.SmemBytes(gemm.shape); bytes > device.smem_bytes_per_block)
    reasons.Add("needs {} bytes of shared memory, {} gives a CTA {}", bytes, device.name, device.smem_bytes_per_block);
}

// CTAs that wait for each other, and keep equal shares of the tile. Clusters of 4 leave multiprocessors of some GPCs
// empty, so SureCtas() does not hold for them.
void CheckExchange(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const int quads = plan.tile_m * plan.tile_n / (128 * plan.warpgroups) / 4;
  if (quads % plan.split != 0)
    reasons.Add("{} splits cannot keep equal shares of the {} quads of sums that a thread has", plan.split, quads);
  const int64_t ctas = plan.Tiles(gemm.shape) * plan.split;
  const int64_t sure = device.SureCtas(plan.threads(), plan.SmemBytes(gemm.shape));
  if (ctas > sure)
    reasons.Add("{} CTAs that wait for each other; {} is sure to hold {} at once", ctas, device.name, sure);
  if (plan.cluster_size() > 2) reasons.Add("splits that wait for each other come in clusters of at most 2");
}

void CheckClusterOfSplits(const WgmmaPlan& plan, Reasons& reasons) {
  if (const int ctas = plan.CtasOfCluster(); ctas > kMaxCtasOfCluster)
    reasons.Add("{} splits of {} x {} tiles are a cluster of {} CTAs, at most {}", plan.split, plan.cluster_m,
                plan.cluster_n, ctas, kMaxCtasOfCluster);
  if (plan.raster > kAlongN && plan.cluster_size() > 1)
    reasons.Add("tiles that stand in a cluster beside their splits have raster m or n");
}

void CheckSplit(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const int steps = CeilDivide(gemm.shape.k, plan.step_k);
  if (steps < plan.split) reasons.Add("k {} makes {} steps, too few for {} splits", gemm.shape.k, steps, plan.split);
  if (plan.stores_shares() && plan.stores_by_tma())
    reasons.Add("splits that each store a share of the tile store rows");
  if (plan.splits_exchange()) CheckExchange(plan, gemm, device, reasons);
  if (plan.splits_are_cluster()) CheckClusterOfSplits(plan, reasons);
}

void CheckSchedule(const WgmmaPlan& plan, Reasons& reasons) {
  if (!plan.is_persistent()) return;
  if (!plan.is_ring()) reasons.Add("schedule {} feeds its tiles through a ring of stages", NameOf(plan.schedule));
  if (plan.split > 1) reasons.Add("schedule {} does not split K", NameOf(plan.schedule));
  if (plan.schedule == Schedule::kPingPong && plan.warpgroups != 2)
    reasons.Add("pingpong is for two warpgroups, not {}", plan.warpgroups);
  if (plan.schedule == Schedule::kCooperative && plan.warpgroups > 3)
    reasons.Add("at most three warpgroups beside the producers");
}

// With a stagger a waiting warpgroup must not need what the one before it does later, nor may that one reach the end of
// another tile meanwhile.
void CheckStagger(const WgmmaPlan& plan, const Gemm& gemm, Reasons& reasons) {
  if (!plan.staggers) return;
  if (plan.team() == 1) return reasons.Add("finish=in_turn is for warpgroups that share a tile");
  if (plan.is_swapped()) reasons.Add("warpgroups end a tile in turn with straight roles only");
  const int steps = plan.FewestSteps(gemm.shape);
  if (steps <= plan.StaggerSteps())
    reasons.Add("{} steps of {} k leave warpgroups nothing to share before turns of {}", steps, plan.step_k,
                plan.StaggerSteps());
  if (plan.is_persistent() && steps < plan.stages)
    reasons.Add("tiles of {} steps in a ring of {} stages: warpgroups that end in turn could be a tile apart", steps,
                plan.stages);
  if (plan.splits_are_cluster() && plan.StagingInStages(gemm.shape))
    reasons.Add("no room beside the stages for the sums of warpgroups that end in turn");
}

void CheckClusterAndGrid(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (plan.cluster_size() > 4) reasons.Add("a cluster of {} x {} CTAs, at most 4", plan.cluster_m, plan.cluster_n);
  for (const StagedOperand& operand : {OperandA(plan, gemm), OperandB(plan, gemm)})
    if (!operand.HasWholePanels() && operand.lines % (8 * operand.peers) != 0)
      reasons.Add("{} CTAs cannot copy {} lines in slices of 8", operand.peers, operand.lines);
  const int64_t y = plan.is_persistent()     ? 1
                    : plan.raster == kAlongM ? plan.TilesN(gemm.shape)
                    : plan.raster == kAlongN ? plan.TilesM(gemm.shape)
                                             : 1;
  if (y > device.max_grid_y) reasons.Add("{} tiles along the grid's y, at most {}", y, device.max_grid_y);
}

}  // namespace

void CheckWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  CheckProblem(plan, gemm, device, reasons);
  CheckTile(plan, gemm, reasons);
  CheckRegisters(plan, gemm, reasons);
  CheckStages(plan, gemm, device, reasons);
  CheckSchedule(plan, reasons);
  CheckSplit(plan, gemm, device, reasons);
  CheckStagger(plan, gemm, reasons);
  CheckClusterAndGrid(plan, gemm, device, reasons);
}

}  // namespace gemmsmith
