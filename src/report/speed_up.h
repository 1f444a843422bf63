// One contender against another on one shape and one clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/selection.h"

namespace gemmsmith {

// How much longer the reference takes: t_reference / t_contender.
struct ShapeSpeedUp {
  Shape shape;
  double ratio = 0;                  // median of paired samples, else the ratio of the two medians
  std::optional<Interval> interval;  // 95 %, of six or more paired samples
  double reference_ns = 0, contender_ns = 0;

  bool IsWin() const { return ratio > 1; }  // as published work counts
  bool IsLoss() const { return ratio < 1; }
  // What another race would hardly turn round.
  bool IsClearWin() const { return interval && interval->low > 1; }
  bool IsClearLoss() const { return interval && interval->high < 1; }
};

// Names that stand in one row of a table: "lt_auto_max" for the faster of lt_auto_nn and lt_auto_tn, "ours_max" for the
// faster of our kernels, "library_max" for the fastest of AutoTuning, the heuristic, cuBLAS and torch; one name for
// itself.
struct ContenderGroup {
  std::string name;
  std::vector<std::string> members;
  bool IsMax() const { return members.size() > 1; }
};

// Everybody with a time in these records: ours first, then AutoTuning, heuristic, cuBLAS, torch, then the others by
// name, of each nn, tn and max; then library_max, where there are several of these.
std::vector<ContenderGroup> ContenderGroupsOf(const std::vector<ShapeRecords>& shapes);

// Of its fastest member, in the run that speaks for it; nothing where it was not timed on this clock.
const Timing* FastestTime(const ShapeRecords& records, const ContenderGroup& group, Clock clock);

// Both from one run: the fastest member of the contender, and against it the member of the reference that is hardest to
// beat there. Nothing where the run lacks one of them. In chains a reference that was not chained stands with
// its device time.
std::optional<ShapeSpeedUp> Compare(const ShapeRecords& records, const ContenderGroup& contender,
                                    const ContenderGroup& reference, Clock clock);

}  // namespace gemmsmith
