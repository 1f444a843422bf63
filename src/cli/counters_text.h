// A profiler's counters as people read them.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal.h"
#include "outcome/counters.h"

namespace gemmsmith {

// A block of lines that begins with an empty one; nothing where no counters were asked for. Of the reasons why warps
// wait, those that matter stand there, the longest first.
std::string CountersText(const std::optional<Counters>& counters, const Terminal& terminal);

}  // namespace gemmsmith
