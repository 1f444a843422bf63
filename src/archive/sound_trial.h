// Invariants that readers of trials rely on. Every record is checked when it is read.
#pragma once

#include <string_view>

#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// Medians, samples and joules are positive and finite. Means are finite and not negative, ends of intervals finite: all
// are 0 where medians alone were recorded. The failure names the timing or comparison.
Status CheckTimes(const Outcome& outcome);
// True for a name without control characters, which a table can print.
bool IsPrintable(std::string_view name);
// Checks every name that a table may print.
Status CheckNames(const Trial& trial);

}  // namespace gemmsmith
