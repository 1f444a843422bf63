// The text that `report --models` prints.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/terminal.h"
#include "report/model_steps.h"

namespace gemmsmith {

// With a model its phases instead of the overview, in text and Markdown.
std::string PrintModels(const ModelReport& report, const std::string& model, const std::string& source,
                        ReportFormat format, const Terminal& terminal);

}  // namespace gemmsmith
