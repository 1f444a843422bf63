// What of a plan's tile grid lies outside the problem.
#pragma once

#include <vector>

#include "report/ratio_summary.h"
#include "report/winning_plans.h"

namespace gemmsmith {

// Tiles, clusters or steps do not divide the problem.
bool IsRagged(const Plan& plan, const Shape& shape);
// Computed products over useful ones, at least 1.
double PaddingRatio(const Plan& plan, const Shape& shape);

struct RaggedRow {
  std::string group;  // a class, or all
  int winners = 0;
  int ragged = 0;                                // in any direction
  int ragged_m = 0, ragged_n = 0, ragged_k = 0;  // in this one
  std::vector<double> padding;                   // of each ragged winner
};
// All winners, then class by class; empty without winners.
std::vector<RaggedRow> RaggedRows(const std::vector<WinningPlan>& winners);

}  // namespace gemmsmith
