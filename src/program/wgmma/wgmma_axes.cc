#include <iterator>

#include "base/check.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

constexpr int kTiles[] = {8,   16,  24,  32,  40,  48,  56,  64,  72,  80,  88,  96,  104, 112, 120, 128,
                          136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256};
constexpr int kRoles[] = {int(Roles::kStraight), int(Roles::kSwapped)};
constexpr std::string_view kRoleWords[] = {"straight", "swapped"};
constexpr int kSchedules[] = {int(Schedule::kOneTile), int(Schedule::kCooperative), int(Schedule::kPingPong), 3};
constexpr std::string_view kScheduleWords[] = {"one", "cooperative", "pingpong", "unaided"};
constexpr int kWarpgroupCounts[] = {1, 2, 3, 4};
constexpr int kStepKs[] = {64, 128, 256};
constexpr int kStageCounts[] = {0, 2, 3, 4, 5, 6, 7, 8, 10, 12};
constexpr std::string_view kStageWords[] = {"resident", "2", "3", "4", "5", "6", "7", "8", "10", "12"};
constexpr int kClusters[] = {1, 2, 4};
constexpr int kReductions[] = {int(SplitReduction::kAdd), int(SplitReduction::kCluster),
                               int(SplitReduction::kExchange)};
constexpr std::string_view kReductionWords[] = {"add", "cluster", "exchange"};
constexpr int kStores[] = {int(Store::kRows), int(Store::kTma), int(Store::kTmaFirstOut)};
constexpr std::string_view kStoreWords[] = {"rows", "tma", "tma_first_out"};
constexpr int kStreams[] = {int(Stream::kNone), int(Stream::kA), int(Stream::kB)};
constexpr std::string_view kStreamWords[] = {"none", "a", "b"};
constexpr int kRasters[] = {kAlongM, kAlongN, 2, 4, 8, 16};
constexpr std::string_view kRasterWords[] = {"m", "n", "2", "4", "8", "16"};
constexpr int kCtaCounts[] = {int(Ctas::kAll), int(Ctas::kEven), 2};
constexpr std::string_view kCtaWords[] = {"all", "even", "shared"};
constexpr int kFinishes[] = {0, 1};
constexpr std::string_view kFinishWords[] = {"together", "in_turn"};
// Axes that are retired as a whole; records hold plans with their other values.
constexpr int kKeeps[] = {0, 1, 2, 3, 4, 6, 8, 17, 18, 19, 22};
constexpr std::string_view kKeepWords[] = {"0", "1", "2", "3", "4", "6", "8", "1/4", "1/2", "3/4", "3/2"};
constexpr int kPlaces[] = {0, 1};
constexpr std::string_view kPlaceWords[] = {"any", "near"};
constexpr int kWalks[] = {0, 1, 2};
constexpr std::string_view kWalkWords[] = {"onward", "back_and_forth", "alternating"};
constexpr int kKepts[] = {0, 1};
constexpr std::string_view kKeptWords[] = {"steps", "lines"};

constexpr Axis kAxes[] = {
    {.name = "tile_m",
     .meaning = "rows of C that a CTA computes at a time",
     .values = kTiles,
     .default_value = 128,
     .stride = 64},
    {.name = "tile_n",
     .meaning = "columns of C that a CTA computes at a time",
     .values = kTiles,
     .default_value = 128},
    {.name = "roles",
     .meaning = "the operand that gives the rows of the instruction: A, or B with C computed transposed",
     .values = kRoles,
     .words = kRoleWords,
     .makes_kernels = true},
    {.name = "schedule",
     .meaning = "one tile a CTA, or persistent CTAs whose warpgroups share each tile or take tiles in turn",
     .values = kSchedules,
     .words = kScheduleWords,
     .live_count = 3,
     .makes_kernels = true},
    {.name = "warpgroups",
     .meaning = "consumer warpgroups (4 warps each)",
     .role = AxisRole::kFeed,
     .values = kWarpgroupCounts,
     .default_value = 2},
    {.name = "step_k", .meaning = "k of one stage", .role = AxisRole::kFeed, .values = kStepKs, .default_value = 64},
    {.name = "stages",
     .meaning = "stages of the ring that is refilled, or resident: all of K at once",
     .role = AxisRole::kFeed,
     .values = kStageCounts,
     .words = kStageWords,
     .default_value = 4,
     .ordered = true},
    {.name = "cluster_m",
     .meaning = "CTAs along m that share the copies of B; in a cluster of splits, tiles along m",
     .values = kClusters,
     .default_value = 1},
    {.name = "cluster_n",
     .meaning = "CTAs along n that share the copies of A; in a cluster of splits, tiles along n",
     .values = kClusters,
     .default_value = 1},
    {.name = "split", .meaning = "CTAs that split K of one tile", .values = kSplits, .default_value = 1},
    {.name = "reduction",
     .meaning = "how splits combine their sums: f32 adds in L2, a cluster's shared memory, or slots in L2; the last two "
                "are reproducible",
     .values = kReductions,
     .words = kReductionWords},
    {.name = "store",
     .meaning = "how C is written: rows by the warps, boxes by TMA, boxes with an evict-first hint",
     .role = AxisRole::kOrder,
     .values = kStores,
     .words = kStoreWords},
    {.name = "stream",
     .meaning = "the operand whose copies carry an evict-first hint",
     .role = AxisRole::kHint,
     .values = kStreams,
     .words = kStreamWords},
    {.name = "keep",
     .meaning = "retired: sixteenths of the streamed operand that L2 kept for the next call",
     .role = AxisRole::kHint,
     .values = kKeeps,
     .words = kKeepWords,
     .ordered = true,
     .live_count = 1},
    {.name = "trigger",
     .meaning = kTriggerMeaning,
     .role = AxisRole::kChain,
     .values = kTriggers,
     .words = kTriggerWords},
    {.name = "raster",
     .meaning = "order of the tiles: along m, along n, or groups of so many clusters along m",
     .role = AxisRole::kOrder,
     .values = kRasters,
     .words = kRasterWords},
    {.name = "ctas",
     .meaning = "persistent CTAs: all that are resident, or no more than keep the number of waves",
     .role = AxisRole::kOrder,
     .values = kCtaCounts,
     .words = kCtaWords,
     .live_count = 2},
    {.name = "finish",
     .meaning = "how warpgroups that share a tile end it: together, or one stores while the next one multiplies",
     .role = AxisRole::kOrder,
     .values = kFinishes,
     .words = kFinishWords},
    {.name = "fixed",
     .meaning = "dimensions known at compile time: none, k, all (with C's stride)",
     .role = AxisRole::kCompileTime,
     .values = kFixedKinds,
     .words = kFixedWords},
    {.name = "place",
     .meaning = "retired: near gave neighbouring tiles to neighbouring multiprocessors",
     .role = AxisRole::kHint,
     .values = kPlaces,
     .words = kPlaceWords,
     .live_count = 1},
    {.name = "walk",
     .meaning = "retired: the order of k, serpentine from tile to tile or from launch to launch",
     .role = AxisRole::kHint,
     .values = kWalks,
     .words = kWalkWords,
     .live_count = 1},
    {.name = "kept",
     .meaning = "retired: the unit of keep, steps of k or lines",
     .role = AxisRole::kHint,
     .values = kKepts,
     .words = kKeptWords,
     .live_count = 1},
};

static_assert(std::size(kAxes) == WgmmaAxis::kCount);

}  // namespace

std::span<const Axis> WgmmaAxes() { return kAxes; }

WgmmaPlan::WgmmaPlan(const Plan& plan)
    : tile_m(plan.values[WgmmaAxis::kTileM]),
      tile_n(plan.values[WgmmaAxis::kTileN]),
      roles(Roles(plan.values[WgmmaAxis::kRolesOfOperands])),
      schedule(Schedule(plan.values[WgmmaAxis::kSchedule])),
      warpgroups(plan.values[WgmmaAxis::kWarpgroups]),
      step_k(plan.values[WgmmaAxis::kStepK]),
      stages(plan.values[WgmmaAxis::kStages]),
      cluster_m(plan.values[WgmmaAxis::kClusterM]),
      cluster_n(plan.values[WgmmaAxis::kClusterN]),
      split(plan.values[WgmmaAxis::kSplit]),
      reduction(SplitReduction(plan.values[WgmmaAxis::kReduction])),
      store(Store(plan.values[WgmmaAxis::kStore])),
      stream(Stream(plan.values[WgmmaAxis::kStream])),
      trigger(Trigger(plan.values[WgmmaAxis::kTrigger])),
      raster(plan.values[WgmmaAxis::kRaster]),
      ctas(Ctas(plan.values[WgmmaAxis::kCtas])),
      staggers(plan.values[WgmmaAxis::kFinish] != 0),
      fixed(FixedDimensions(plan.values[WgmmaAxis::kFixed])) {
  GEMMSMITH_CHECK(plan.family == FamilyId::kWgmma, "family {}", int(plan.family));
}

}  // namespace gemmsmith
