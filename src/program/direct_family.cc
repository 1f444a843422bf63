#include "program/direct_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/config_text.h"

namespace gemmsmith {

namespace {

constexpr int kTileMs[] = {16, 32, 64};
constexpr int kTileNs[] = {8, 16, 32, 64};
constexpr int kWarpsMns[] = {1, 2, 4};
constexpr int kWarpsKs[] = {1, 2, 4, 8, 16};
constexpr int kReductions[] = {int(SplitReduction::kAdd), int(SplitReduction::kOrdered),
                               int(SplitReduction::kExchange)};
constexpr std::string_view kReductionWords[] = {"add", "ordered", "exchange"};
constexpr int kChunkCounts[] = {1, 2, 4};

// Places in Plan::values, in the order of kParameters.
enum Index { kTileM, kTileN, kWarpsM, kWarpsN, kWarpsK, kSplit, kReduction, kChunks, kFixed, kTrigger };

constexpr Parameter kParameters[] = {
    {"tile_m", "rows of C that a CTA computes", kTileMs, {}, 16},
    {"tile_n", "columns of C that a CTA computes", kTileNs, {}, 16},
    {"warps_m", "warps that share the tile's rows", kWarpsMns, {}, 1},
    {"warps_n", "warps that share the tile's columns", kWarpsMns, {}, 1},
    {"warps_k", "warps of a CTA that split K; their sums meet in shared memory", kWarpsKs, {}, 4},
    {"split", "CTAs that split K of one tile", kSplits, {}, 1},
    {"reduction",
     "how split CTAs meet: f32 adds in L2, or slots that the last arriver sums in order (reproducible); exchange is of "
     "the past",
     kReductions, kReductionWords, int(SplitReduction::kAdd)},
    {"chunks", "chunks of 32 k that a warp has in flight", kChunkCounts, {}, 1},
    {"fixed", "dimensions known at compile time: none, k (with the strides along it), all", kFixedKinds, kFixedWords,
     int(FixedDimensions::kNone)},
    {"trigger", kTriggerMeaning, kTriggers, kTriggerWords, int(Trigger::kNone), false, 0, kToldTriggers,
     int(Trigger::kLate)},
};

static_assert(std::size(kParameters) == kTrigger + 1);

constexpr Family kDirect = {FamilyId::kDirect, "direct",
                            "global memory to register fragments to mma.sync, without staging", kParameters};

constexpr int kChunkK = 32;
constexpr int kMaxWarps = 16;
// The arrival count that IsLastArriver of src/device/reduce.cuh shares, with its alignment.
constexpr uint32_t kStaticSmemBytes = 16;
constexpr int kMaxRegisters = 255;
// Addresses, counters and temporaries beside sums and fragments; ptxas has the last word (compile/binary.h).
constexpr int kOtherRegisters = 40;

int TilesM(const DirectPlan& plan, const Gemm& gemm) { return CeilDivide(gemm.shape.m, plan.tile_m); }
int TilesN(const DirectPlan& plan, const Gemm& gemm) { return CeilDivide(gemm.shape.n, plan.tile_n); }

int EstimatedRegisters(const DirectPlan& plan) {
  const int sums = plan.warp_tile_m() * plan.warp_tile_n() / 32;
  const int fragments = plan.chunks * (plan.warp_tile_m() / 8 + plan.warp_tile_n() / 8) * 4;
  return sums + fragments + kOtherRegisters;
}

void CheckProblem(const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (gemm.kind.layout != kNn && gemm.kind.layout != kTn)
    reasons.Add("direct reads a row-major A (layouts nn and tn), not {}", Name(gemm.kind.layout));
  if (device.compute_capability() < 80)
    reasons.Add("direct needs compute capability 8.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
}

void CheckTile(const DirectPlan& plan, const Device& device, Reasons& reasons) {
  if (plan.warp_tile_m() < 16 || plan.warp_tile_n() < 8)
    reasons.Add("{} x {} warps leave a warp {} x {} of the tile, less than one instruction's 16 x 8", plan.warps_m,
                plan.warps_n, plan.warp_tile_m(), plan.warp_tile_n());
  if (plan.warps() > kMaxWarps) reasons.Add("{} warps a CTA, at most {}", plan.warps(), kMaxWarps);
  if (plan.SmemBytes() + kStaticSmemBytes > uint32_t(device.smem_bytes_per_block))
    reasons.Add("needs {} bytes of shared memory, {} gives a CTA {}", plan.SmemBytes(), device.name,
                device.smem_bytes_per_block);
  const int limit = std::min(kMaxRegisters, device.registers_per_block / plan.threads());
  if (const int registers = EstimatedRegisters(plan); registers > limit)
    reasons.Add("about {} registers a thread, at most {} with {} threads", registers, limit, plan.threads());
}

void CheckTrigger(const DirectPlan& plan, const Device& device, Reasons& reasons) {
  if (plan.trigger != Trigger::kNone && device.compute_capability() < 90)
    reasons.Add("chained launches need compute capability 9.0, {} has {}.{}", device.name, device.compute_major,
                device.compute_minor);
}

void CheckSplit(const DirectPlan& plan, const Gemm& gemm, Reasons& reasons) {
  // Records hold such plans: 1.12 of the time of adds in 44 pairs, best of none of 144 shapes (H200, 2026-11-21).
  if (plan.reduction == SplitReduction::kExchange)
    reasons.Add("direct has no reduction=exchange any more, which was nowhere of use: add or ordered");
  if (plan.split == 1 && plan.reduction != SplitReduction::kAdd)
    reasons.Add("reduction says how split CTAs meet; it stays add where split is 1");
  const int step = kChunkK * plan.chunks;
  const int rounds = CeilDivide(gemm.shape.k, step * plan.warps_k);
  if (CeilDivide(rounds, CeilDivide(rounds, plan.split)) < plan.split)
    reasons.Add("k {} makes {} rounds of {} warps x {}, too few for each of {} splits", gemm.shape.k, rounds,
                plan.warps_k, step, plan.split);
  if (plan.warps_k * plan.chunks > 1 && gemm.shape.k <= step * plan.warps_k - kChunkK)
    reasons.Add("k {} leaves idle part of the {} k that {} warps hold in flight", gemm.shape.k, step * plan.warps_k,
                plan.warps_k);
}

void CheckGrid(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (TilesN(plan, gemm) > device.max_grid_y)
    reasons.Add("{} tiles along n, a grid has at most {}", TilesN(plan, gemm), device.max_grid_y);
}

}  // namespace

const Family& DirectFamily() { return kDirect; }

DirectPlan::DirectPlan(const Plan& plan)
    : tile_m(plan.values[kTileM]),
      tile_n(plan.values[kTileN]),
      warps_m(plan.values[kWarpsM]),
      warps_n(plan.values[kWarpsN]),
      warps_k(plan.values[kWarpsK]),
      split(plan.values[kSplit]),
      reduction(SplitReduction(plan.values[kReduction])),
      chunks(plan.values[kChunks]),
      trigger(Trigger(plan.values[kTrigger])),
      fixed(FixedDimensions(plan.values[kFixed])) {
  GEMMSMITH_CHECK(plan.family == FamilyId::kDirect, "family {}", int(plan.family));
}

// SharedTile of src/device/reduce.cuh, one for each warp that splits K.
uint32_t DirectPlan::SmemBytes() const {
  return warps_k == 1 ? 0 : uint32_t(warps_k) * tile_m * (tile_n + 4) * sizeof(float);
}

void CheckDirect(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  CheckProblem(gemm, device, reasons);
  CheckTile(plan, device, reasons);
  CheckSplit(plan, gemm, reasons);
  CheckGrid(plan, gemm, device, reasons);
  CheckTrigger(plan, device, reasons);
}

Launch LaunchDirect(const DirectPlan& plan, const Gemm& gemm) {
  Launch launch;
  launch.grid = {uint32_t(TilesM(plan, gemm)), uint32_t(TilesN(plan, gemm)), uint32_t(plan.split)};
  launch.block = {uint32_t(plan.threads())};
  launch.smem_bytes = plan.SmemBytes();
  launch.chainable = plan.trigger != Trigger::kNone;
  launch.deterministic = plan.split == 1 || plan.reduction != SplitReduction::kAdd;
  launch.type = gemm.kind.type;
  if (plan.split > 1) {
    const uint64_t tiles = uint64_t(launch.grid.x) * launch.grid.y;
    const uint64_t slots = plan.reduction == SplitReduction::kAdd ? 1 : plan.split;
    launch.workspace_bytes = SplitWorkspaceBytes(tiles, slots * plan.tile_m * plan.tile_n);
  }
  return launch;
}

std::string DirectConfigText(const DirectPlan& plan, const Gemm& gemm) {
  const bool all = plan.fixed == FixedDimensions::kAll, k = all || plan.fixed == FixedDimensions::kK;
  const bool row_major_b = gemm.kind.layout.b == Order::kRow;
  ConfigText text;
  text.AddKind(gemm.kind);
  text.Add("kTileM", plan.tile_m);
  text.Add("kTileN", plan.tile_n);
  text.Add("kWarpsM", plan.warps_m);
  text.Add("kWarpsN", plan.warps_n);
  text.Add("kWarpsK", plan.warps_k);
  text.Add("kSplit", plan.split);
  text.Add("kReduction", plan.reduction, plan.split);
  text.Add("kChunks", plan.chunks);
  text.Add("kTrigger", plan.trigger);
  text.Add("kLoadVector", std::min(gemm.AlignmentA(), gemm.AlignmentB()));
  text.Add("kStoreVector", gemm.AlignmentC());
  text.AddShape(gemm.shape, plan.fixed);
  text.Add("kFixedLdA", k ? gemm.LeadingA() : 0);
  text.Add("kFixedLdB", (row_major_b ? all : k) ? gemm.LeadingB() : 0);
  text.Add("kFixedLdC", all ? gemm.LeadingC() : 0);
  return std::move(text).Take();
}

}  // namespace gemmsmith
