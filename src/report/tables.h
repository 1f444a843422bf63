// The scoreboard as tables for people.
#pragma once

#include <string>
#include <vector>

#include "report/scoreboard.h"
#include "report/sheet.h"

namespace gemmsmith {

// Device, date, protocol, shapes, and what is compared with what: a line each.
std::vector<std::string> HeaderLines(const Scoreboard& board);

// Speed-ups as the paper has them, ratio - 1 in per cent, one row a baseline (or contender).
Sheet TableOne(const Scoreboard& board, const ModeTable& table);
// The same where ours falls back to the baseline when it is slower.
Sheet TableTwo(const Scoreboard& board, const ModeTable& table);
// Each layout against the same layout; no rows where only one contender's layouts are compared.
Sheet SameLayout(const ModeTable& table);
// The headline's ratios by class: a row a class, of each mode the geometric mean and the wins.
Sheet ClassTable(const Scoreboard& board);
// The headline's ratios by log2(m n k): Figure 3's data, mean ratios of each mode.
Sheet BucketTable(const Scoreboard& board);
// The headline's ratios, a row a mode.
Sheet SummaryTable(const Scoreboard& board);

// Tables 1 and 2 of a mode, and the one by layouts where there is one.
std::vector<Sheet> SheetsOf(const Scoreboard& board, const ModeTable& table);
// Summary, classes and buckets: all modes side by side.
std::vector<Sheet> SheetsOfAllModes(const Scoreboard& board);
// Energy and AutoTuning's choices, as far as they were recorded.
std::vector<Sheet> SheetsOf(const Selection& selection);

}  // namespace gemmsmith
