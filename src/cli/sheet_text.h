// A report's table on a terminal.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "report/sheet.h"

namespace gemmsmith {

std::string TextOf(const Sheet& sheet, const Terminal& terminal);

}  // namespace gemmsmith
