// Curves of a comparison, drawn with letters.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace gemmsmith {

struct DrawnCurve {
  std::string name;
  std::vector<double> values;  // fractions, rising; [i]: after i + 1 evaluations, all curves as many
};

// Evaluations from left to right, doubling at equal distances; what is missing to 1 from below to above, halving at
// equal distances, 0.5 % and less in the first line. A letter stands for each curve, and alternately where several
// meet.
std::string CurvesText(const std::vector<DrawnCurve>& curves, const Terminal& terminal);

}  // namespace gemmsmith
