// Whether AutoTuning's choice of an algorithm beats the heuristic's, product by product.
#pragma once

#include <string>
#include <vector>

#include "report/scoreboard.h"
#include "report/sheet.h"

namespace gemmsmith {

// A product on which AutoTuning's choice takes longer than the heuristic's, leading clock.
struct SlowerChoice {
  Layout layout;
  ShapeSpeedUp speed_up;        // t_heuristic / t_autotuning, below 1
  bool same_algorithm = false;  // then the two times are of one kernel
  double Slowdown() const { return 1 / speed_up.ratio; }
};

// Of one layout.
struct ChoiceRow {
  Layout layout;
  Statistics statistics;             // of t_heuristic / t_autotuning
  std::vector<SlowerChoice> slower;  // by more than kSlowerBy; the worst first
};
inline constexpr double kSlowerBy = 0.02;

// Of nn and tn, as far as races hold both choices.
std::vector<ChoiceRow> ChoiceRows(const Selection& selection);
Sheet ChoiceSheet(const std::vector<ChoiceRow>& rows, Clock clock);
Sheet SlowerSheet(const std::vector<ChoiceRow>& rows);

}  // namespace gemmsmith
