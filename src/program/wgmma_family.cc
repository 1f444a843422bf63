#include "program/wgmma_family.h"

#include <iterator>

#include "base/check.h"

namespace gemmsmith {

namespace {

constexpr int kTiles[] = {8,   16,  24,  32,  40,  48,  56,  64,  72,  80,  88,  96,  104, 112, 120, 128,
                          136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256};
constexpr int kWarpgroupCounts[] = {1, 2, 3, 4};
constexpr int kStepKs[] = {64, 128, 256};
constexpr int kStageCounts[] = {0, 2, 3, 4, 5, 6, 7, 8, 10, 12};
constexpr std::string_view kStageWords[] = {"resident", "2", "3", "4", "5", "6", "7", "8", "10", "12"};
constexpr int kClusters[] = {1, 2, 4};
constexpr int kReductions[] = {int(SplitReduction::kAdd), int(SplitReduction::kCluster),
                               int(SplitReduction::kExchange)};
constexpr std::string_view kReductionWords[] = {"add", "cluster", "exchange"};
constexpr int kStores[] = {int(Store::kRows), int(Store::kBoxes), int(Store::kBoxesFirstOut)};
constexpr std::string_view kStoreWords[] = {"rows", "tma", "tma_first_out"};
constexpr int kStreams[] = {int(Stream::kNone), int(Stream::kA), int(Stream::kB)};
constexpr std::string_view kStreamWords[] = {"none", "a", "b"};
// Steps of kCoarsePeriod; finer shares, which no words tell, stand behind them, as steps of kKeepPeriod.
constexpr int KeepOf64(int steps) { return kCoarsePeriod + steps; }
constexpr int kKeeps[] = {0, 1, 2, 3, 4, 6, 8, KeepOf64(1), KeepOf64(2), KeepOf64(3), KeepOf64(6)};
constexpr std::string_view kKeepWords[] = {"0", "1", "2", "3", "4", "6", "8", "1/4", "1/2", "3/4", "3/2"};
constexpr size_t kToldKeeps = 7;
constexpr int InPeriod(int keep) {
  return keep < kCoarsePeriod ? keep * (kKeepPeriod / kCoarsePeriod) : keep - kCoarsePeriod;
}
constexpr int kCtaCounts[] = {int(Ctas::kAll), int(Ctas::kEven), int(Ctas::kShared)};
constexpr std::string_view kCtaWords[] = {"all", "even", "shared"};
constexpr size_t kToldCtas = 2;
constexpr int kFinishes[] = {0, 1};
constexpr std::string_view kFinishWords[] = {"together", "in_turn"};
constexpr int kRasters[] = {0, 1, 2, 4, 8, 16};
constexpr int kPlaces[] = {0, 1};
constexpr std::string_view kPlaceWords[] = {"any", "near"};
constexpr int kWalks[] = {int(Walk::kOnward), int(Walk::kBackAndForth), int(Walk::kAlternating)};
constexpr std::string_view kWalkWords[] = {"onward", "back_and_forth", "alternating"};
constexpr int kKepts[] = {0, 1};
constexpr std::string_view kKeptWords[] = {"steps", "lines"};
constexpr std::string_view kRasterWords[] = {"m", "n", "2", "4", "8", "16"};

// Places in Plan::values, in the order of kParameters.
enum Index {
  kTileM,
  kTileN,
  kRolesOfOperands,
  kSchedule,
  kWarpgroups,
  kStepK,
  kStages,
  kClusterM,
  kClusterN,
  kSplit,
  kReduction,
  kStore,
  kStream,
  kKeep,
  kTrigger,
  kRaster,
  kCtas,
  kFinish,
  kFixed,
  kPlace,
  kWalk,
  kKept
};

constexpr Parameter kParameters[] = {
    {"tile_m", "rows of C that a CTA computes at a time", kTiles, {}, 128, false, 64},
    {"tile_n", "columns of C that a CTA computes at a time", kTiles, {}, 128},
    {"roles",
     "which side of the tile comes in blocks of 64 and which one by 8: m and n, or, where wgmma computes C transposed, "
     "n and m",
     kRoles, kRoleWords, int(Roles::kStraight)},
    {"schedule",
     "one tile a CTA, or as many CTAs as there is room for, whose warpgroups share each tile, with a producer or "
     "unaided, or take turns",
     kSchedules, kScheduleWords, int(Schedule::kOneTile), false, 0, kToldSchedules, int(Schedule::kCooperative)},
    {"warpgroups", "consumer warpgroups (4 warps each)", kWarpgroupCounts, {}, 2},
    {"step_k", "k that a stage holds", kStepKs, {}, 64},
    {"stages", "stages of the ring that is refilled, or resident: all of K at once", kStageCounts, kStageWords, 4,
     true},
    {"cluster_m",
     "CTAs along m that share the copies of B; where splits are a cluster, tiles along m that stand in it",
     kClusters,
     {},
     1},
    {"cluster_n",
     "CTAs along n that share the copies of A; where splits are a cluster, tiles along n that stand in it",
     kClusters,
     {},
     1},
    {"split", "CTAs that split K of one tile", kSplits, {}, 1},
    {"reduction",
     "how split CTAs meet: f32 adds in L2, a cluster's shared memory (reproducible), or slots in L2 that all take a "
     "share from (reproducible)",
     kReductions, kReductionWords, int(SplitReduction::kAdd)},
    {"store", "how C is written: rows by the warps, or boxes by the copy engine, perhaps as the first to leave L2",
     kStores, kStoreWords, int(Store::kRows)},
    {"stream", "an operand that few read: its copies are the first to leave L2", kStreams, kStreamWords,
     int(Stream::kNone)},
    {"keep", "of sixteen steps, or lines, of the streamed operand those that L2 keeps all the same, for the next call",
     kKeeps, kKeepWords, 0, true, 0, kToldKeeps, 1},
    {"trigger", kTriggerMeaning, kTriggers, kTriggerWords, int(Trigger::kNone), false, 0, kToldTriggers,
     int(Trigger::kLate)},
    {"raster", "order of the tiles: along m, along n, or groups of so many clusters along m", kRasters, kRasterWords,
     0},
    {"ctas",
     "of a persistent schedule: all there is room for; no more than make as many turns; or all, which share the tiles "
     "that whole turns leave over along K",
     kCtaCounts, kCtaWords, int(Ctas::kAll), false, 0, kToldCtas, int(Ctas::kAll)},
    {"finish", "how warpgroups that share a tile end it: together, or one stores while the next one multiplies",
     kFinishes, kFinishWords, 0},
    {"fixed", "dimensions known at compile time: none, k, all (with C's stride)", kFixedKinds, kFixedWords,
     int(FixedDimensions::kNone)},
    {"place",
     "of a persistent schedule: tiles by the order of the launch, or neighbouring tiles for neighbouring "
     "multiprocessors",
     kPlaces, kPlaceWords, 0, false, 0, 0},
    {"walk",
     "every tile from its first k on; of a persistent schedule back and forth, so that what L2 still holds of the tile "
     "before comes first; or, of one tile a CTA, every other launch from its end, for what is there of the one before",
     kWalks, kWalkWords, 0, false, 0, 0},
    {"kept",
     "what keep counts: steps of k, or lines, which L2 chooses by their addresses, so that they come between those "
     "from "
     "memory",
     kKepts, kKeptWords, 0, false, 0, 0},
};

static_assert(std::size(kParameters) == kKept + 1);

constexpr Family kWgmma = {FamilyId::kWgmma, "wgmma", "TMA to shared memory to wgmma (Hopper only)", kParameters};

}  // namespace

const Family& WgmmaFamily() { return kWgmma; }

WgmmaPlan::WgmmaPlan(const Plan& plan)
    : tile_m(plan.values[kTileM]),
      tile_n(plan.values[kTileN]),
      roles(Roles(plan.values[kRolesOfOperands])),
      schedule(Schedule(plan.values[kSchedule])),
      warpgroups(plan.values[kWarpgroups]),
      step_k(plan.values[kStepK]),
      stages(plan.values[kStages]),
      cluster_m(plan.values[kClusterM]),
      cluster_n(plan.values[kClusterN]),
      split(plan.values[kSplit]),
      reduction(SplitReduction(plan.values[kReduction])),
      store(Store(plan.values[kStore])),
      stream(Stream(plan.values[kStream])),
      keep(InPeriod(plan.values[kKeep])),
      trigger(Trigger(plan.values[kTrigger])),
      raster(plan.values[kRaster]),
      ctas(Ctas(plan.values[kCtas])),
      ends_in_turn(plan.values[kFinish] != 0),
      fixed(FixedDimensions(plan.values[kFixed])),
      is_placed(plan.values[kPlace] != 0),
      walk(Walk(plan.values[kWalk])),
      keeps_lines(plan.values[kKept] != 0) {
  GEMMSMITH_CHECK(plan.family == FamilyId::kWgmma, "family {}", int(plan.family));
}

}  // namespace gemmsmith
