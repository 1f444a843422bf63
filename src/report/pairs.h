// What one axis of a plan is worth: pairs of recorded plans that differ in nothing else.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/trial.h"
#include "report/ratio_summary.h"

namespace gemmsmith {

// A value as people write it, in an order that they expect (4 before 16, tiny before large).
struct Label {
  std::array<int, 3> order{};
  std::string text;
  auto operator<=>(const Label&) const = default;
};

// The plan's value on this axis; a dash, after all values, where its family has none.
Label AxisLabel(const Plan& plan, std::string_view axis);
// Every parameter of every family, each name once.
const std::vector<std::string_view>& PlanAxes();
// What pairs can be told apart by: class, shape, m, n, k, layout, type, protocol, device, family, tile, and the axes.
const std::vector<std::string_view>& PairGroups();

struct PairOptions {
  std::string axis;                  // one of PlanAxes()
  std::vector<std::string> by;       // of PairGroups()
  std::optional<std::string> over;   // only pairs over this value
  std::optional<Protocol> protocol;  // nothing: all, though a pair is always of one
  Clock clock = Clock::kDevice;
};

// Two values of the axis: the time of plans with `value` over that of the same plans with `over`.
struct PairRow {
  std::vector<Label> groups;  // one for each of `by`
  Label value, over;
  int problems = 0;
  RatioSummary ratio;  // its count is that of pairs
};

// The fastest plan of a problem with a value over the fastest with any other, on the problems that have both.
struct BestRow {
  std::vector<Label> groups;
  Label value;
  int best = 0;        // problems whose fastest plan of all has the value (and is of the group)
  RatioSummary ratio;  // its count is that of problems
};

struct PairTables {
  PairOptions options;
  int plans = 0;     // timed ones that have the axis
  int problems = 0;  // theirs; one counts once for each device and protocol
  std::vector<std::string> devices, protocols;
  int64_t first_unix_ms = 0, last_unix_ms = 0;
  std::vector<PairRow> pairs;  // by groups, then values
  std::vector<BestRow> best;
};

// Of plans that passed every test and were timed; a pair is of one problem (shape, layout, type), device and protocol;
// of a plan that was judged more than once the newest time counts. InvalidArgument for groups that the axis is part of,
// and for an `over` that no plan has; NotFound where no two plans differ in the axis alone.
Result<PairTables> MakePairs(const std::vector<Trial>& trials, const PairOptions& options);

}  // namespace gemmsmith
