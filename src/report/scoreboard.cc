#include "report/scoreboard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace gemmsmith {
namespace {

bool IsOurs(const ContenderGroup& group) { return group.name.starts_with("ours"); }

const ContenderGroup* FindGroup(const std::vector<ContenderGroup>& groups, std::string_view name) {
  for (const ContenderGroup& group : groups)
    if (group.name == name) return &group;
  return nullptr;
}

std::vector<ShapeSpeedUp> CompareAll(const std::vector<ShapeRecords>& shapes, const ContenderGroup& contender,
                                     const ContenderGroup& reference, Clock mode) {
  std::vector<ShapeSpeedUp> speed_ups;
  for (const ShapeRecords& records : shapes)
    if (const std::optional<ShapeSpeedUp> speed_up = Compare(records, contender, reference, mode))
      speed_ups.push_back(*speed_up);
  return speed_ups;
}

void AddRow(std::vector<Row>& rows, std::string name, bool is_max, std::vector<ShapeSpeedUp> speed_ups) {
  if (speed_ups.empty()) return;
  const Statistics all = StatisticsOf(speed_ups), with_fallback = StatisticsWithFallback(speed_ups);
  rows.push_back({std::move(name), is_max, std::move(speed_ups), all, with_fallback});
}

// Ours is the contender of every row.
ModeTable TableOfOurs(const std::vector<ShapeRecords>& shapes, const std::vector<ContenderGroup>& groups, Clock mode) {
  ModeTable table{.mode = mode};
  const ContenderGroup& ours = *FindGroup(groups, "ours_max");
  for (const ContenderGroup& baseline : groups)
    if (!IsOurs(baseline))
      AddRow(table.rows, baseline.name, baseline.IsMax(), CompareAll(shapes, ours, baseline, mode));
  for (const Layout& layout : kLayouts) {
    const ContenderGroup* same = FindGroup(groups, fmt::format("ours_{}", Name(layout)));
    const ContenderGroup* baseline = FindGroup(groups, fmt::format("lt_auto_{}", Name(layout)));
    if (same != nullptr && baseline != nullptr)
      AddRow(table.same_layout, baseline->name, false, CompareAll(shapes, *same, *baseline, mode));
  }
  return table;
}

ModeTable TableAgainst(const std::vector<ShapeRecords>& shapes, const std::vector<ContenderGroup>& groups,
                       const ContenderGroup& reference, Clock mode) {
  ModeTable table{.mode = mode};
  for (const ContenderGroup& contender : groups)
    if (contender.name != reference.name)
      AddRow(table.rows, contender.name, contender.IsMax(), CompareAll(shapes, contender, reference, mode));
  return table;
}

// The first of the wished names that is a row of the first table, else the first max, else the first row.
std::string HeadlineOf(const std::vector<ModeTable>& modes, std::string_view wish) {
  const std::vector<Row>& rows = modes.front().rows;
  for (const Row& row : rows)
    if (row.name == wish) return row.name;
  for (const Row& row : rows)
    if (row.is_max) return row.name;
  return rows.front().name;
}

Status CheckReference(const std::vector<ContenderGroup>& groups, const std::string& name) {
  std::vector<std::string_view> known;
  for (const ContenderGroup& group : groups)
    if (!IsOurs(group)) known.push_back(group.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return OkStatus();
  if (known.empty()) return NotFound("the records hold no baseline to compare with");
  const std::optional<std::string> nearest = NearestWord(name, known);
  if (nearest) return NotFound(fmt::format("no record holds '{}'; did you mean '{}'?", name, *nearest));
  return NotFound(fmt::format("no record holds '{}'; they hold {}", name, fmt::join(known, ", ")));
}

void CountShapes(Scoreboard& board) {
  std::set<Shape> shapes;
  for (const ModeTable& table : board.modes)
    for (const Row& row : table.rows)
      for (const ShapeSpeedUp& speed_up : row.speed_ups) shapes.insert(speed_up.shape);
  board.shapes = int(shapes.size());
}

void AddFloors(Scoreboard& board) {
  const Result<Device> device = FindDevice(board.selection.setting.device_key);
  const std::vector<ShapeSpeedUp> speed_ups = board.Headline(board.selection.leading);
  if (!device.ok() || speed_ups.empty()) return;
  double contender = 0, reference = 0;
  for (const ShapeSpeedUp& speed_up : speed_ups) {
    const Gemm gemm{.shape = speed_up.shape, .kind = KindOf(board.selection.number_types)};
    const double floor_ns = MakeTask(gemm).FloorNs(*device);
    contender += speed_up.contender_ns / floor_ns;
    reference += speed_up.reference_ns / floor_ns;
  }
  board.floor_ratio_mean = contender / double(speed_ups.size());
  board.reference_floor_ratio_mean = reference / double(speed_ups.size());
}

std::vector<ShapeRecords> WithOurs(const std::vector<ShapeRecords>& shapes) {
  std::vector<ShapeRecords> with;
  for (const ShapeRecords& records : shapes)
    if (!records.ours.empty()) with.push_back(records);
  return with;
}

}  // namespace

Statistics StatisticsOf(const std::vector<ShapeSpeedUp>& speed_ups) {
  GEMMSMITH_CHECK(!speed_ups.empty(), "statistics of nothing");
  Statistics statistics{.shapes = int(speed_ups.size())};
  std::vector<double> ratios;
  double reference_ns = 0, contender_ns = 0;
  for (const ShapeSpeedUp& speed_up : speed_ups) {
    ratios.push_back(speed_up.ratio);
    reference_ns += speed_up.reference_ns;
    contender_ns += speed_up.contender_ns;
    statistics.wins += speed_up.IsWin();
    statistics.losses += speed_up.IsLoss();
    statistics.clear_wins += speed_up.IsClearWin();
    statistics.clear_losses += speed_up.IsClearLoss();
    statistics.without_interval += !speed_up.interval;
  }
  statistics.mean = Mean(ratios);
  statistics.geomean = GeometricMean(ratios);
  statistics.median = Median(ratios);
  statistics.std = StandardDeviation(ratios);
  statistics.min = *std::min_element(ratios.begin(), ratios.end());
  statistics.flop_weighted = reference_ns / contender_ns;
  return statistics;
}

Statistics StatisticsWithFallback(const std::vector<ShapeSpeedUp>& speed_ups) {
  std::vector<ShapeSpeedUp> chosen = speed_ups;
  for (ShapeSpeedUp& speed_up : chosen) {
    if (speed_up.ratio >= 1) continue;
    speed_up.ratio = 1;
    speed_up.contender_ns = speed_up.reference_ns;
    if (speed_up.interval) speed_up.interval = {1, 1};
  }
  return StatisticsOf(chosen);
}

int BucketOf(const Shape& shape) {
  const int log2 = std::ilogb(shape.Volume());
  return log2 - log2 % kBucketWidth;
}

const Row* ModeTable::Find(std::string_view name) const {
  for (const Row& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

const ModeTable* Scoreboard::Find(Clock mode) const {
  for (const ModeTable& table : modes)
    if (table.mode == mode) return &table;
  return nullptr;
}

std::vector<ShapeSpeedUp> Scoreboard::Headline(Clock mode) const {
  const ModeTable* table = Find(mode);
  const Row* row = table == nullptr ? nullptr : table->Find(headline);
  return row == nullptr ? std::vector<ShapeSpeedUp>() : row->speed_ups;
}

Result<Scoreboard> MakeScoreboard(const std::vector<Trial>& trials, Selection selection,
                                  const std::optional<std::string>& against) {
  Scoreboard board{.selection = std::move(selection)};
  const std::vector<ShapeRecords>& shapes = board.selection.shapes;
  const std::vector<ShapeRecords> with_ours = WithOurs(shapes);
  const std::vector<ContenderGroup> groups = ContenderGroupsOf(shapes);
  board.of_ours = !against && !with_ours.empty();
  board.shapes_without_ours = board.of_ours ? int(shapes.size() - with_ours.size()) : 0;
  if (!board.of_ours) {
    board.against = against.value_or(std::string(kDefaultReference));
    RETURN_IF_ERROR(CheckReference(groups, board.against));
  }
  for (const Clock mode : kModes) {
    ModeTable table = board.of_ours ? TableOfOurs(with_ours, groups, mode)
                                    : TableAgainst(shapes, groups, *FindGroup(groups, board.against), mode);
    if (!table.rows.empty()) board.modes.push_back(std::move(table));
  }
  if (board.modes.empty()) return NotFound("no two contenders of these records were timed in one run");
  board.headline = HeadlineOf(board.modes, board.of_ours ? kDefaultReference : "ours_max");
  CountShapes(board);
  AddFloors(board);
  if (board.of_ours) board.dispatch = DispatchOf(trials, board.selection);
  return board;
}

std::map<ShapeClass, std::vector<ShapeSpeedUp>> ByClass(const std::vector<ShapeSpeedUp>& speed_ups) {
  std::map<ShapeClass, std::vector<ShapeSpeedUp>> classes;
  for (const ShapeSpeedUp& speed_up : speed_ups) classes[Classify(speed_up.shape)].push_back(speed_up);
  return classes;
}

std::map<int, std::vector<ShapeSpeedUp>> ByBucket(const std::vector<ShapeSpeedUp>& speed_ups) {
  std::map<int, std::vector<ShapeSpeedUp>> buckets;
  for (const ShapeSpeedUp& speed_up : speed_ups) buckets[BucketOf(speed_up.shape)].push_back(speed_up);
  return buckets;
}

}  // namespace gemmsmith
