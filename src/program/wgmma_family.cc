#include "program/wgmma_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/config_text.h"

namespace gemmsmith {

namespace {

constexpr int kTiles[] = {8,   16,  24,  32,  40,  48,  56,  64,  72,  80,  88,  96,  104, 112, 120, 128,
                          136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256};
constexpr int kRoles[] = {int(Roles::kStraight), int(Roles::kSwapped)};
constexpr std::string_view kRoleWords[] = {"straight", "swapped"};
constexpr int kSchedules[] = {int(Schedule::kOneTile), int(Schedule::kCooperative), int(Schedule::kPingPong),
                             int(Schedule::kUnaided)};
constexpr size_t kToldSchedules = 3;
constexpr std::string_view kScheduleWords[] = {"one", "cooperative", "pingpong", "unaided"};
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
constexpr int kKeeps[] = {0, 1, 2, 3, 4, 6, 8};
constexpr int kCtaCounts[] = {0, 1};
constexpr std::string_view kCtaWords[] = {"all", "even"};
constexpr int kFinishes[] = {0, 1};
constexpr std::string_view kFinishWords[] = {"together", "in_turn"};
constexpr int kRasters[] = {0, 1, 2, 4, 8, 16};
constexpr int kPlaces[] = {0, 1};
constexpr std::string_view kPlaceWords[] = {"any", "near"};
constexpr int kWalks[] = {0, 1};
constexpr std::string_view kWalkWords[] = {"onward", "back_and_forth"};
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
  kWalk
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
    {"stages", "stages of the ring that is refilled, or resident: all of K at once", kStageCounts, kStageWords, 4, true},
    {"cluster_m", "CTAs along m that share the copies of B", kClusters, {}, 1},
    {"cluster_n", "CTAs along n that share the copies of A", kClusters, {}, 1},
    {"split", "CTAs that split K of one tile", kSplits, {}, 1},
    {"reduction",
     "how split CTAs meet: f32 adds in L2, a cluster's shared memory (reproducible), or slots in L2 that all take a "
     "share from (reproducible)",
     kReductions, kReductionWords, int(SplitReduction::kAdd)},
    {"store", "how C is written: rows by the warps, or boxes by the copy engine, perhaps as the first to leave L2",
     kStores, kStoreWords, int(Store::kRows)},
    {"stream", "an operand that few read: its copies are the first to leave L2", kStreams, kStreamWords,
     int(Stream::kNone)},
    {"keep",
     "of sixteen steps of the streamed operand those that L2 keeps all the same, for the next call",
     kKeeps,
     {},
     0},
    {"trigger", kTriggerMeaning, kTriggers, kTriggerWords, int(Trigger::kNone), false, 0, kToldTriggers, int(Trigger::kLate)},
    {"raster", "order of the tiles: along m, along n, or groups of so many clusters along m", kRasters, kRasterWords,
     0},
    {"ctas", "of a persistent schedule: all there is room for, or no more than make as many turns", kCtaCounts,
     kCtaWords, 0},
    {"finish", "how warpgroups that share a tile end it: together, or one stores while the next one multiplies",
     kFinishes, kFinishWords, 0},
    {"fixed", "dimensions known at compile time: none, k, all (with C's stride)", kFixedKinds, kFixedWords,
     int(FixedDimensions::kNone)},
    {"place",
     "of a persistent schedule: tiles by the order of the launch, or neighbouring tiles for neighbouring "
     "multiprocessors",
     kPlaces, kPlaceWords, 0, false, 0, 0},
    {"walk",
     "of a persistent schedule: every tile from its first k on, or back and forth, so that what L2 still holds of the "
     "tile before comes first",
     kWalks, kWalkWords, 0, false, 0, 0},
};

static_assert(std::size(kParameters) == kWalk + 1);

constexpr Family kWgmma = {FamilyId::kWgmma, "wgmma", "TMA to shared memory to wgmma (Hopper only)", kParameters};

// The memory that the device headers divide up: barriers, stages, staging of the epilogue.
constexpr int kBarrierBytes = 1024;
constexpr int kMaxResidentSteps = 32;
constexpr int kHopperSmemBytes = 232448;
constexpr int kMaxRegisters = 255;
// Addresses, descriptors, counters beside the sums; ptxas has the last word (compile/binary.h).
constexpr int kOtherRegisters = 40;
// The same where less is known to suffice: cooperative 256x208 with boxes and three stages compiles without local
// memory (102 plans), with two stages, swapped roles or a row-major B now and then with 8 to 24 bytes a thread, and
// 256x216 spills 1.3 KB (CUDA 13.0).
constexpr int kLeastOtherRegisters = 32, kStagesOfLean = 3;
// Beside the sums of those that order the copies, too: 256x208 and 192x240 with a row-major B in clusters spilled 8 to 24
// bytes with 40 and 48 (11 of 73 plans at the limit); lean ones of 192x256 and 256x216 none (CUDA 13.0).
constexpr int kOtherRegistersUnaided = 56;
// The same beside those of one matrix instruction, which it must be compiled with, whatever setmaxnreg gives later:
// 240 columns in a CTA of 512 threads end in C7602 (CUDA 13.0).
constexpr int kOtherRegistersOfInstruction = 26;
constexpr int kMaxClusterSplit = 16;
// Ending in turn: k that one warpgroup multiplies alone in about the time in which another one stores its rows of C.
// For 64 x 256 of them 0.8 us at 1.9 GHz, against 0.7 us; both shrink with the columns.
constexpr int kTurnK = 192;

// ---- the operands as device/tma.cuh stages them: panels of lines, copied in slices by the CTAs that share them ----

struct StagedOperand {
  TensorMap::Matrix matrix;
  bool panels_along_k;
  int panels, lines, width;            // of a stage; elements a line
  int peers;                           // CTAs that share the copies
  uint64_t inner_extent, line_extent;  // of the matrix: contiguous direction, the other
  uint64_t leading;                    // elements between lines

  bool SlicesArePanels() const { return panels % peers == 0; }
  int SliceLines() const { return SlicesArePanels() ? lines : lines / peers; }
  // Panels that one operation brings. Deep maps see the contiguous direction as (panel, place in it), which needs whole
  // panels: a last, partial one would continue in the next line.
  int Depth() const {
    const bool whole_lines = SliceLines() == lines;
    const int slice_panels = SlicesArePanels() ? panels / peers : panels;
    return whole_lines && inner_extent % width == 0 ? slice_panels : 1;
  }
};

StagedOperand OperandA(const WgmmaPlan& plan, const Gemm& gemm) {
  return {TensorMap::Matrix::kA,
          true,
          plan.step_k / 64,
          plan.tile_m,
          64,
          plan.cluster_n,
          uint64_t(gemm.shape.k),
          uint64_t(gemm.shape.m),
          uint64_t(gemm.LeadingA())};
}

// The widest panels that so many columns fill; PanelWidth() of src/device/tma.cuh.
int PanelWidth(int columns) { return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8; }

// Of C's panels, which may overlap; StoredWidth() of src/device/tma.cuh.
int StoredWidth(int columns) {
  if (columns < 64 || columns % 32 == 0) return PanelWidth(columns);
  return CeilDivide(columns, 64) * 64 * 4 <= columns * 5 ? 64 : 32;
}

StagedOperand OperandB(const WgmmaPlan& plan, const Gemm& gemm) {
  const uint64_t n = uint64_t(gemm.shape.n), k = uint64_t(gemm.shape.k), leading = uint64_t(gemm.LeadingB());
  if (gemm.kind.layout.b == Order::kColumn)
    return {TensorMap::Matrix::kB, true, plan.step_k / 64, plan.tile_n, 64, plan.cluster_m, k, n, leading};
  const int width = PanelWidth(plan.tile_n);
  return {TensorMap::Matrix::kB, false, plan.tile_n / width, plan.step_k, width, plan.cluster_m, n, k, leading};
}

TensorMap MapOf(const StagedOperand& operand) {
  TensorMap map;
  map.matrix = operand.matrix;
  map.swizzle_bytes = uint32_t(operand.width) * 2;
  const uint64_t line_bytes = operand.leading * 2;
  if (operand.Depth() > 1) {
    const uint64_t width = uint64_t(operand.width);
    map.rank = 3;
    map.extent = {width, operand.line_extent, operand.inner_extent / width};
    map.stride_bytes = {line_bytes, width * 2};
    map.box = {uint32_t(operand.width), uint32_t(operand.lines), uint32_t(operand.Depth())};
  } else {
    map.extent = {operand.inner_extent, operand.line_extent};
    map.stride_bytes = {line_bytes};
    map.box = {uint32_t(operand.width), uint32_t(operand.SliceLines())};
  }
  return map;
}

// C as a warp stores it (16 rows), or in persistent kernels a warpgroup (64): in boxes of StoredWidth() columns. With
// swapped roles as every warpgroup does: 64 columns of all rows.
TensorMap MapOfC(const WgmmaPlan& plan, const Gemm& gemm) {
  const int width = plan.BoxWidth();
  const int rows = plan.is_swapped() ? plan.tile_m : plan.is_persistent() ? 64 : 16;
  TensorMap map;
  map.matrix = TensorMap::Matrix::kC;
  map.swizzle_bytes = width == 8 ? 0 : uint32_t(width) * 2;
  map.extent = {uint64_t(gemm.shape.n), uint64_t(gemm.shape.m)};
  map.stride_bytes = {uint64_t(gemm.LeadingC()) * 2};
  map.box = {uint32_t(width), uint32_t(rows)};
  return map;
}

std::string_view ScheduleWord(Schedule schedule) { return kScheduleWords[int(schedule)]; }

// As ptxas (CUDA 13.0) hands them out: to whole warpgroups, in multiples of 8.
int RegisterLimit(int threads) { return std::min(kMaxRegisters, 65536 / (CeilDivide(threads, 128) * 128) / 8 * 8); }

// So many blocks of 64 rows beside the stages of a persistent kernel.
bool HasRoomToStage(const WgmmaPlan& plan, int blocks, int rows_bytes) {
  const int64_t staged_bytes = int64_t(blocks) * 4 * rows_bytes;
  return kBarrierBytes + int64_t(plan.stages) * plan.StageBytes() + staged_bytes <= kHopperSmemBytes;
}
bool HasRoomToStage(const WgmmaPlan& plan, int blocks) {
  return HasRoomToStage(plan, blocks, plan.StagedRowsBytes());
}

// ---- legality ----

bool IsLean(const WgmmaPlan& plan, const Gemm& gemm) {
  return (plan.MovesRegisters() || plan.is_unaided()) && plan.schedule != Schedule::kPingPong && plan.stages >= kStagesOfLean &&
         plan.store_by_copy_engine() && !plan.is_swapped() && gemm.kind.layout.b == Order::kColumn;
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
  const int others = IsLean(plan, gemm)    ? kLeastOtherRegisters
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
  if (plan.cluster_size() > 1) reasons.Add("a cluster shares copies or splits K, not both");
  if (plan.split > kMaxClusterSplit || plan.tile_m % plan.split != 0)
    reasons.Add("{} splits cannot share {} rows as a cluster (at most {}, a divisor)", plan.split, plan.tile_m,
                kMaxClusterSplit);
}

// Where C is most of what is moved, and more than stays in L2 anyway.
bool MostlyWritesC(const Gemm& gemm) { return gemm.shape.k <= 256 && int64_t(gemm.shape.m) * gemm.shape.n >= 1 << 22; }

// Fewer CTAs draw less power, which is time where a call is long: 1.7 to 2 % of the settled time of large tiles at
// K >= 4096 with 128 CTAs instead of 132 (H200, 2026-11-21), nothing where K is short.
void CheckCtas(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, int64_t tiles, Reasons& reasons) {
  constexpr int kLongK = 2048;
  if (!plan.even_turns) return;
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
  if (plan.even_turns)
    reasons.Add("place=near takes all multiprocessors: ctas=even leaves some out, wherever they are");
  if (!SavesPowerByPlace(gemm.shape)) reasons.Add("place=near saves power where m n k is 2^35 or more");
}

void CheckWalk(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  if (!plan.turns_back) return;
  if (!plan.is_persistent()) return reasons.Add("walk=back_and_forth is for persistent schedules");
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
  if (plan.store == Store::kBoxesFirstOut && !(plan.is_persistent() && (MostlyWritesC(gemm) || plan.turns_back)))
    reasons.Add(
        "store=tma_first_out is for persistent kernels that mostly write C (k to 256, 2^22 elements and more), or that "
        "walk back and forth");
  if (!plan.is_persistent()) {
    if (plan.even_turns) reasons.Add("ctas stays all where every CTA has one tile");
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
  if (tiles <= device.multiprocessors)
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
  if (plan.stream == Stream::kNone) {
    if (plan.keep > 0) reasons.Add("keep={} of an operand, and none is streamed", plan.keep);
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
    reasons.Add("keep={} would hold {:.0f} MB, and {:.0f} stay in L2", plan.keep, kept, device.l2_resident_mb);
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

const Family& WgmmaFamily() { return kWgmma; }

bool SavesPowerByPlace(const Shape& shape) {
  constexpr double kFewestProducts = 1ll << 35;  // 0.1 ms
  return shape.Volume() >= kFewestProducts;
}

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
      keep(plan.values[kKeep]),
      trigger(Trigger(plan.values[kTrigger])),
      raster(plan.values[kRaster]),
      even_turns(plan.values[kCtas] != 0),
      ends_in_turn(plan.values[kFinish] != 0),
      fixed(FixedDimensions(plan.values[kFixed])),
      is_placed(plan.values[kPlace] != 0),
      turns_back(plan.values[kWalk] != 0) {
  GEMMSMITH_CHECK(plan.family == FamilyId::kWgmma, "family {}", int(plan.family));
}

int WgmmaPlan::StreamReaders(const Shape& shape) const {
  if (stream == Stream::kNone) return 0;
  return stream == Stream::kA ? CeilDivide(CeilDivide(shape.n, tile_n), cluster_n)
                              : CeilDivide(CeilDivide(shape.m, tile_m), cluster_m);
}

double WgmmaPlan::StreamedBytes(const Shape& shape) const {
  return stream == Stream::kNone ? 0 : 2.0 * shape.k * (stream == Stream::kA ? shape.m : shape.n);
}

double WgmmaPlan::KeptBytes(const Shape& shape) const { return StreamedBytes(shape) * keep / kKeepPeriod; }

bool WgmmaPlan::MovesRegisters() const {
  const int without = consumers() + (is_ring() ? 32 : 0);
  return is_persistent() && !is_unaided() && warpgroups > 1 && sums_per_thread() + kOtherRegisters > RegisterLimit(without);
}

// With two consumer warpgroups a kernel is compiled for 168 registers a thread, with three for 128.
int WgmmaPlan::ProducerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 24 : 32; }
int WgmmaPlan::ConsumerRegisters() const { return !MovesRegisters() ? 0 : warpgroups == 2 ? 240 : 160; }

// At most all stages but one, so that the copies for the next tile find room meanwhile.
int WgmmaPlan::TurnSteps() const {
  if (!ends_in_turn) return 0;
  const int steps = CeilDivide(kTurnK, step_k);
  return is_ring() ? std::min(steps, stages - 1) : steps;
}

int WgmmaPlan::StagedRowsBytes() const {
  if (is_swapped()) return 16 * sum_columns() * 2;
  if (!store_by_copy_engine()) return 16 * (sum_columns() * 2 + 16);
  return 16 * StagedPanels() * BoxWidth() * 2;
}
int WgmmaPlan::StagedPanels() const {
  const int all = ColumnsInBoxes() / BoxWidth();
  if (!is_unaided()) return all;
  int panels = all;
  while (panels > 1 && !HasRoomToStage(*this, warpgroups, 16 * panels * BoxWidth() * 2)) --panels;
  return CeilDivide(all, CeilDivide(all, panels));  // as even as that many turns allow
}
int WgmmaPlan::BoxWidth() const { return StoredWidth(BoxedColumns()); }
int WgmmaPlan::ColumnsInBoxes() const { return CeilDivide(BoxedColumns(), BoxWidth()) * BoxWidth(); }

int WgmmaPlan::StagedBlocks() const { return HasRoomToStage(*this, warpgroups * row_blocks()) ? row_blocks() : 1; }

bool WgmmaPlan::SharesStaging() const {
  return schedule == Schedule::kCooperative && store_by_copy_engine() && ends_in_turn && team() > 1 &&
         !HasRoomToStage(*this, warpgroups);
}

int WgmmaPlan::StagingBytes() const {
  if (splits_exchange()) return 0;
  if (splits_are_cluster()) return tile_m * (tile_n + 4) * int(sizeof(float));
  const int staging_warps = !is_persistent() ? sum_rows() / 16 : SharesStaging() ? 4 : 4 * warpgroups * StagedBlocks();
  return staging_warps * StagedRowsBytes();
}

bool WgmmaPlan::StagingInStages(const Shape& shape) const {
  return !is_persistent() &&
         kBarrierBytes + int64_t(StagesHeld(shape)) * StageBytes() + StagingBytes() > kHopperSmemBytes;
}

int64_t WgmmaPlan::SmemBytes(const Shape& shape) const {
  const int64_t stages_bytes = int64_t(StagesHeld(shape)) * StageBytes();
  if (!StagingInStages(shape)) return kBarrierBytes + stages_bytes + StagingBytes();
  const int beside_bytes = stages_in_turn() ? StagingBytes() / team() * (team() - 1) : 0;
  return kBarrierBytes + std::max<int64_t>(stages_bytes + beside_bytes, StagingBytes());
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

Launch LaunchWgmma(const WgmmaPlan& plan, const Gemm& gemm) {
  const uint32_t tiles_m = uint32_t(plan.TilesM(gemm.shape)), tiles_n = uint32_t(plan.TilesN(gemm.shape));
  const uint32_t cluster_m = uint32_t(plan.cluster_m), cluster_n = uint32_t(plan.cluster_n);
  const uint32_t splits = uint32_t(plan.split);
  Launch launch;
  launch.fills_gpu = plan.is_persistent();
  launch.even_turns = plan.even_turns;
  launch.is_placed = plan.is_placed;
  if (plan.is_persistent()) {
    launch.grid = {tiles_m * tiles_n};
    launch.cluster = {cluster_m * cluster_n};
  } else if (plan.raster == 0) {
    launch.grid = {tiles_m, tiles_n, splits};
    launch.cluster = {cluster_m, cluster_n};
  } else if (plan.raster == 1) {
    launch.grid = {tiles_n, tiles_m, splits};
    launch.cluster = {cluster_n, cluster_m};
  } else {
    launch.grid = {tiles_m * tiles_n, 1, splits};
    launch.cluster = {cluster_m * cluster_n};
  }
  if (plan.splits_are_cluster()) launch.cluster.z = splits;
  launch.block = {uint32_t(plan.threads())};
  launch.smem_bytes = uint32_t(plan.SmemBytes(gemm.shape));
  if (plan.split > 1 && !plan.splits_are_cluster())
    launch.workspace_bytes = SplitWorkspaceBytes(
        uint64_t(tiles_m) * tiles_n, uint64_t(plan.splits_exchange() ? plan.split : 1) * plan.tile_m * plan.tile_n);
  if (plan.is_placed) launch.workspace_bytes = kPlacesBytes;
  launch.is_cooperative = plan.splits_exchange();
  launch.chainable = plan.trigger != Trigger::kNone;
  launch.deterministic = plan.split == 1 || plan.stores_shares();
  launch.type = gemm.kind.type;
  launch.maps = {MapOf(OperandA(plan, gemm)), MapOf(OperandB(plan, gemm))};
  if (plan.store_by_copy_engine()) launch.maps.push_back(MapOfC(plan, gemm));
  return launch;
}

std::string WgmmaConfigText(const WgmmaPlan& plan, const Gemm& gemm) {
  ConfigText text;
  text.AddKind(gemm.kind);
  text.Add("kTileM", plan.tile_m);
  text.Add("kTileN", plan.tile_n);
  text.Add("kSwapped", plan.is_swapped());
  text.Add("kSchedule", plan.schedule);
  text.Add("kWarpgroups", plan.warpgroups);
  text.Add("kStepK", plan.step_k);
  text.Add("kStages", plan.stages);
  text.Add("kClusterM", plan.cluster_m);
  text.Add("kClusterN", plan.cluster_n);
  text.Add("kTurnSteps", plan.TurnSteps());
  text.Add("kPlaced", plan.is_placed);
  text.Add("kTrigger", plan.trigger);
  text.Add("kRaster", plan.raster);
  text.Add("kStoreByCopyEngine", plan.store_by_copy_engine());
  text.Add("kStagedPanels", plan.StagedPanels());
  text.Add("kStoreLeavesL2First", plan.store == Store::kBoxesFirstOut);
  text.Add("kStoreVector", gemm.AlignmentC());
  text.Add("kDepthA", OperandA(plan, gemm).Depth());
  text.Add("kDepthB", OperandB(plan, gemm).Depth());
  text.Add("kStreamsA", plan.stream == Stream::kA);
  text.Add("kStreamsB", plan.stream == Stream::kB);
  text.Add("kKeep", plan.keep);
  if (plan.is_persistent()) {
    text.Add("kProducerRegisters", plan.ProducerRegisters());
    text.Add("kConsumerRegisters", plan.ConsumerRegisters());
    text.Add("kStagedBlocks", plan.StagedBlocks());
    text.Add("kSharesStaging", plan.SharesStaging());
    text.Add("kEvenTurns", plan.even_turns);
    text.Add("kTurnsBack", plan.turns_back);
  } else {
    text.Add("kSplit", plan.split);
    text.Add("kReduction", plan.reduction, plan.split);
    text.Add("kStagingInStages", plan.StagingInStages(gemm.shape));
  }
  text.AddShape(gemm.shape, plan.fixed);
  text.Add("kFixedLdC", plan.fixed == FixedDimensions::kAll ? gemm.LeadingC() : 0);
  return std::move(text).Take();
}

}  // namespace gemmsmith
