// Speed-ups over many shapes: the numbers behind every table and figure.
#pragma once

#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problem/grids.h"
#include "report/dispatch.h"
#include "report/speed_up.h"

namespace gemmsmith {

// Over ratios t_reference / t_contender, one a shape.
struct Statistics {
  int shapes = 0;
  double mean = 0, geomean = 0, median = 0;
  double std = 0;  // n - 1; 0 of one shape
  double min = 0;
  double flop_weighted = 0;              // the reference's time of all shapes together over the contender's
  int wins = 0, losses = 0;              // the ratio lies above 1, below 1
  int clear_wins = 0, clear_losses = 0;  // so does its whole interval
  int without_interval = 0;              // never clear
};
// At least one.
Statistics StatisticsOf(const std::vector<ShapeSpeedUp>& speed_ups);
// The same where the reference is run instead wherever it is faster: no ratio is below 1.
Statistics StatisticsWithFallback(const std::vector<ShapeSpeedUp>& speed_ups);

// Of time, as people look for them; energy has a table of its own.
inline constexpr Clock kModes[] = {Clock::kDeviceCold,    Clock::kDeviceColdChained, Clock::kDevice,
                                   Clock::kDeviceChained, Clock::kOffline,           Clock::kServer,
                                   Clock::kHost};
static_assert(std::size(kModes) == size_t(kLastClock));

// One line of a table: its name is the baseline's, or the contender's where all stand against one reference.
struct Row {
  std::string name;
  bool is_max = false;
  std::vector<ShapeSpeedUp> speed_ups;  // by shape
  Statistics all, with_fallback;
};

struct ModeTable {
  Clock mode = Clock::kDevice;
  std::vector<Row> rows;
  std::vector<Row> same_layout;  // ours nn against nn and tn against tn, of the headline's family
  const Row* Find(std::string_view name) const;
};

// Shapes by log2 of m * n * k: [low, low + 2).
inline constexpr int kBucketWidth = 2;
int BucketOf(const Shape& shape);

struct Scoreboard {
  Selection selection;
  std::vector<ModeTable> modes;  // those with any row
  bool of_ours = false;          // rows are baselines of ours; else contenders against `against`
  std::string against;
  std::string headline;  // the row that classes and summaries speak of
  int shapes = 0;        // in any table
  int shapes_without_ours = 0;

  Dispatch dispatch;  // of ours

  // Means of the time on the leading clock over the floor, of the contender and of the reference of the headline;
  // nothing for unknown devices.
  std::optional<double> floor_ratio_mean, reference_floor_ratio_mean;

  const ModeTable* Find(Clock mode) const;
  // The headline's speed-ups on a mode that pass; empty where none.
  std::vector<ShapeSpeedUp> Headline(Clock mode) const;
};

inline constexpr std::string_view kDefaultReference = "lt_auto_max";

// Where kernels of ours were recorded and no reference is named: ours against every baseline. Else every contender
// against the reference, lt_auto_max where none is named. NotFound with the names that there are.
// The trials are those that the selection was made from: they tell of earlier races, too.
Result<Scoreboard> MakeScoreboard(const std::vector<Trial>& trials, Selection selection,
                                  const std::optional<std::string>& against);

// The shapes' classes in the order of the enumeration, and what passes of each.
std::map<ShapeClass, std::vector<ShapeSpeedUp>> ByClass(const std::vector<ShapeSpeedUp>& speed_ups);
std::map<int, std::vector<ShapeSpeedUp>> ByBucket(const std::vector<ShapeSpeedUp>& speed_ups);

}  // namespace gemmsmith
