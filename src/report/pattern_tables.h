// Patterns as tables for people, and for programs. docs/report.md documents every key and column; they are stable.
#pragma once

#include <string>
#include <vector>

#include "report/patterns.h"
#include "report/sheet.h"

namespace gemmsmith {

// Device, dates, protocol; how many winners, and out of how many plans.
std::vector<std::string> HeaderLines(const Patterns& patterns);
// Correlations, values by octave, shares by class and by size, ragged tiles, techniques; those with rows.
std::vector<Sheet> SheetsOf(const Patterns& patterns);

}  // namespace gemmsmith
