#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/sheet_text.h"
#include "report/pair_tables.h"

namespace gemmsmith {

namespace {

std::vector<Sheet> SheetsOf(const PairTables& tables) { return {PairSheet(tables), BestSheet(tables)}; }

std::string PrintText(const PairTables& tables, const std::string& source, const Terminal& terminal) {
  std::string text = Tinted(source, Tint::kBold, terminal) + "\n";
  for (const std::string& line : HeaderLines(tables)) text += line + "\n";
  for (const Sheet& sheet : SheetsOf(tables)) text += "\n" + TextOf(sheet, terminal);
  return text;
}

std::string PrintMarkdown(const PairTables& tables) {
  std::string text = fmt::format("{}.\n", fmt::join(HeaderLines(tables), "; "));
  for (const Sheet& sheet : SheetsOf(tables)) text += "\n" + Markdown(sheet);
  return text;
}

std::string Print(const PairTables& tables, const std::string& source, ReportFormat format) {
  switch (format) {
    case ReportFormat::kJson:
      return PrintJson(PairsJson(tables, source));
    case ReportFormat::kCsv:
      return PairsCsv(tables);
    case ReportFormat::kMarkdown:
      return PrintMarkdown(tables);
    case ReportFormat::kText:
      break;
  }
  return PrintText(tables, source, DescribeTerminal(STDOUT_FILENO));
}

}  // namespace

Result<int> Run(const RecordsPairsCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  const Result<PairTables> tables = MakePairs(selected.trials, command.options);
  if (!tables.ok()) return WithContext(tables.status(), selected.source);
  RETURN_IF_ERROR(WriteOut(Print(*tables, selected.source, command.format)));
  return kExitDone;
}

}  // namespace gemmsmith
