// Pairs as tables for people, and for programs. docs/command_line.md documents every key and column; they are stable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/pairs.h"
#include "report/sheet.h"

namespace gemmsmith {

// Device, dates, protocols; how many plans.
std::vector<std::string> HeaderLines(const PairTables& tables);
Sheet PairSheet(const PairTables& tables);
Sheet BestSheet(const PairTables& tables);
nlohmann::ordered_json PairsJson(const PairTables& tables, const std::string& source);
// A header line, a line for each row of both tables.
std::string PairsCsv(const PairTables& tables);

}  // namespace gemmsmith
