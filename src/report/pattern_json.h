// Patterns for programs. docs/report.md documents every key and column; they are stable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/patterns.h"

namespace gemmsmith {

nlohmann::ordered_json PatternsJson(const Patterns& patterns, const std::string& source);
// A header line, a line for each number of each table, a line for each sentence.
std::string PatternsCsv(const Patterns& patterns);

}  // namespace gemmsmith
