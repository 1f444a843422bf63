// How the best kernels stand against cuBLASLt, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "archive/standings.h"
#include "cli/json_text.h"
#include "cli/terminal.h"

namespace gemmsmith {

// A line that says what is compared, and a table by class and layout; nothing without standings.
std::string StandingsText(const std::vector<Standing>& standings, const Terminal& terminal);
Json JsonOf(const std::vector<Standing>& standings);

}  // namespace gemmsmith
