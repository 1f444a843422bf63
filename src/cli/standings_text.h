// How the best kernels stand against cuBLASLt, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "archive/json_text.h"
#include "archive/standings.h"
#include "cli/terminal.h"

namespace gemmsmith {

// A line that says what is compared, and a table by class and layout, with all classes of a layout together where there
// are several; nothing without standings.
std::string StandingsText(const std::vector<Trial>& trials, const Terminal& terminal);
// A list by class and layout, then one entry of class "all" for each layout.
Json StandingsJson(const std::vector<Trial>& trials);

}  // namespace gemmsmith
