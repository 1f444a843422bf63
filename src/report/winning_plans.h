// The plans that speak for their problems, and how often something is seen among them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "problem/grids.h"
#include "report/pairs.h"
#include "report/selection.h"

namespace gemmsmith {

struct WinningPlan {
  Gemm gemm;
  Plan plan;
};

// Of each shape and layout the plan that speaks for it on this clock (selection.h); sources are no plans.
std::vector<WinningPlan> WinningPlans(const Selection& selection, Clock clock);

// How many winners of a group have each value.
struct Tally {
  std::string group;
  int winners = 0;
  int unopposed = 0;  // of choices: winners on whose problem nothing with another value was timed
  std::map<Label, int> counts;

  void Add(const Label& value, bool is_unopposed = false);
  int CountOf(const Label& value) const;
  double ShareOf(const Label& value) const;  // 0 of no winners
  const Label& Most() const;                 // the most frequent value, of equals the first; there is a winner
};

// Classes in the order of the enumeration; sizes by log2(m n k) as in Figure 3, "18 to 20".
Label ClassGroup(const Shape& shape);
Label SizeGroup(const Shape& shape);
inline constexpr const char* kAllGroups = "all";

}  // namespace gemmsmith
