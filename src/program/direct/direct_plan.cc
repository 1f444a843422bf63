#include "program/direct/direct_plan.h"

#include <iterator>

#include "base/check.h"

namespace gemmsmith {

namespace {

constexpr int kTileMs[] = {16, 32, 64};
constexpr int kTileNs[] = {8, 16, 32, 64};
constexpr int kWarpsMns[] = {1, 2, 4};
constexpr int kWarpsKs[] = {1, 2, 4, 8, 16};
// Records hold plans with retired splits and reductions.
constexpr int kReductions[] = {0, 1, 3};
constexpr std::string_view kReductionWords[] = {"add", "ordered", "exchange"};
constexpr int kChunkCounts[] = {1, 2, 4};

// Indices of Plan::values, in the order of kAxes.
enum Index { kTileM, kTileN, kWarpsM, kWarpsN, kWarpsK, kSplit, kReduction, kChunks, kFixed, kTrigger };

constexpr Axis kAxes[] = {
    {.name = "tile_m", .meaning = "rows of C that a CTA computes", .values = kTileMs, .default_value = 16},
    {.name = "tile_n", .meaning = "columns of C that a CTA computes", .values = kTileNs, .default_value = 16},
    {.name = "warps_m", .meaning = "warps that share the tile's rows", .values = kWarpsMns, .default_value = 1},
    {.name = "warps_n", .meaning = "warps that share the tile's columns", .values = kWarpsMns, .default_value = 1},
    {.name = "warps_k",
     .meaning = "warps of a CTA that split K; their sums meet in shared memory",
     .values = kWarpsKs,
     .default_value = 4},
    {.name = "split",
     .meaning = "CTAs that split K of one tile",
     .values = kSplits,
     .default_value = 1,
     .live_count = 1},
    {.name = "reduction",
     .meaning = "how split CTAs combined their sums",
     .values = kReductions,
     .words = kReductionWords,
     .live_count = 1},
    {.name = "chunks", .meaning = "chunks of 32 k that a warp has in flight", .values = kChunkCounts, .default_value = 1},
    {.name = "fixed",
     .meaning = "dimensions known at compile time: none, k (with the strides along it), all",
     .role = AxisRole::kCompileTime,
     .values = kFixedKinds,
     .words = kFixedWords,
     .default_value = int(FixedDimensions::kNone)},
    {.name = "trigger",
     .meaning = kTriggerMeaning,
     .role = AxisRole::kChain,
     .values = kTriggers,
     .words = kTriggerWords,
     .default_value = int(Trigger::kNone)},
};

static_assert(std::size(kAxes) == kTrigger + 1);

}  // namespace

std::span<const Axis> DirectAxes() { return kAxes; }

DirectPlan::DirectPlan(const Plan& plan)
    : tile_m(plan.values[kTileM]),
      tile_n(plan.values[kTileN]),
      warps_m(plan.values[kWarpsM]),
      warps_n(plan.values[kWarpsN]),
      warps_k(plan.values[kWarpsK]),
      split(plan.values[kSplit]),
      chunks(plan.values[kChunks]),
      trigger(Trigger(plan.values[kTrigger])),
      fixed(FixedDimensions(plan.values[kFixed])) {
  GEMMSMITH_CHECK(plan.family == FamilyId::kDirect, "family {}", int(plan.family));
}

}  // namespace gemmsmith
