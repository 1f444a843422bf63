// The scoreboard for programs. docs/report.md documents every key and column; they are stable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/scoreboard.h"

namespace gemmsmith {

// The numbers of one row.
nlohmann::ordered_json JsonOf(const Statistics& statistics);
nlohmann::ordered_json ReportJson(const Scoreboard& board, const std::string& source);
// A header line, and a line for each row of each table.
std::string ReportCsv(const Scoreboard& board);

}  // namespace gemmsmith
