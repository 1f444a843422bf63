// What `report --patterns` prints.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/patterns.h"

namespace gemmsmith {

std::string PrintPatterns(const Patterns& patterns, const std::string& source, ReportFormat format,
                          const Terminal& terminal);

}  // namespace gemmsmith
