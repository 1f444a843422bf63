// The library's choices by their races: by class of shape, and by the lead that was expected.
#pragma once

#include <string>
#include <vector>

#include "problem/grids.h"

namespace gemmsmith {

struct Raced {
  ShapeClass shape_class = ShapeClass::kTiny;
  bool whole_lines = false;  // lines of all matrices are multiples of 128 bytes
  double own_ns = 0, library_ns = 0;
  double ratio = 0;                                     // cuBLASLt's time over ours, the median of rounds
  double expected_own_ns = 0, expected_library_ns = 0;  // as the explanation says
  double octaves = 0;                                   // to the nearest problem that was measured; 0: its own entry

  double ExpectedLead() const { return expected_library_ns / expected_own_ns; }
};

// The times and octaves in an explanation of gemmsmith_explain().
void ReadExpected(const std::string& explanation, Raced& raced);
// All, each class, those far from what was measured, and those near by each lead that might be asked: how many races,
// the geometric mean of the ratios, the least, and how many are below 0.97. Then how far predictions were off. At least
// one race.
std::string SummaryOf(const std::vector<Raced>& races);

}  // namespace gemmsmith
