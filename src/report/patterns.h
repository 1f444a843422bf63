// What the winning plans have in common: how their axes go with the problem, which techniques win where, what lies
// outside the tiles, and sentences about it that the numbers carry. docs/report.md says what each number is.
#pragma once

#include <string>
#include <vector>

#include "report/axis_patterns.h"
#include "report/choice_patterns.h"
#include "report/padding.h"
#include "report/techniques.h"

namespace gemmsmith {

// What is said in words: in which part (numbers, choices, padding, techniques), and of what ("wgmma tile_m", "split,
// splitk").
struct PatternSentence {
  std::string_view part;
  std::string about, text;
};

struct Patterns {
  Selection selection;
  int shapes = 0;           // with a winner
  int winners = 0;          // plans, of each shape and layout one
  int source_winners = 0;   // free-form sources that speak for theirs, left out
  int unopposed = 0;        // winners whose problem has no other timed plan
  double median_plans = 0;  // that were timed on a winner's problem
  std::vector<AxisPattern> axes;
  std::vector<FamilyExtents> extents;
  std::vector<ChoicePattern> choices;
  std::vector<RaggedRow> ragged;
  std::vector<TechniqueRow> techniques;
  std::vector<PatternSentence> sentences;
};

// The trials are those that the selection was made from, and live as long as the patterns. NotFound where no plan of
// ours speaks for a shape.
Result<Patterns> FindPatterns(const std::vector<Trial>& trials, const Selection& selection);

}  // namespace gemmsmith
