// What readers of trials rely on; records from elsewhere are held to it when they are read.
#pragma once

#include <string_view>

#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// Medians, samples and joules are positive and finite; means and the ends of intervals, which may be 0 where medians
// alone were recorded, are finite, and means not negative. Says whose is not.
Status CheckTimes(const Outcome& outcome);
// Whether a table can print it: it holds no control characters.
bool IsPrintable(std::string_view name);
// All names that tables print are printable.
Status CheckNames(const Trial& trial);

}  // namespace gemmsmith
