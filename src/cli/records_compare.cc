#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "archive/segment.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/sheet_text.h"
#include "report/agreement.h"

namespace gemmsmith {

namespace {

// The other side, where a record may be of another device.
Result<TimeTable> TimesOfRecord(const RecordsCompareCommand& command, SelectionOptions options) {
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(command.other));
  options.device_key.reset();
  const Result<Selection> selection = SelectRecords(trials, options);
  if (!selection.ok()) return WithContext(selection.status(), command.other.string());
  return TimeTable{.times_ns = LibraryTimes(*selection, command.options.clock)};
}

Result<TimeTable> ReadOther(const RecordsCompareCommand& command, const Selection& here,
                            const SelectionOptions& options) {
  const bool is_table = command.other.extension() == ".csv";
  if (!is_table && (!command.columns.empty() || command.unit_ns))
    return InvalidArgument("--columns and --unit are for a .csv");
  if (!is_table) return TimesOfRecord(command, options);
  ASSIGN_OR_RETURN(const std::string csv, ReadFile(command.other));
  TimeTableOptions table{.names = command.columns, .unit_ns = command.unit_ns};
  for (const auto& [variant, times] : LibraryTimes(here, command.options.clock)) table.variants.push_back(variant);
  if (table.variants.empty())
    return NotFound(
        fmt::format("the records here hold no library's time on the {} clock", Name(command.options.clock)));
  Result<TimeTable> there = ParseTimeTable(csv, table);
  if (!there.ok()) return WithContext(there.status(), command.other.string());
  return there;
}

std::vector<std::string> Lines(const Agreement& agreement, const Selection& here, const TimeTable& there) {
  std::vector<std::string> lines = HeaderLines(agreement, here);
  if (!there.ignored.empty()) lines.push_back("ignored there: " + WithoutControls(Join(there.ignored, ", ")));
  return lines;
}

std::vector<Sheet> SheetsOf(const Agreement& agreement) {
  return {AgreementSheet(agreement), FurthestSheet(agreement)};
}

std::string PrintText(const Agreement& agreement, const std::string& what, const std::vector<std::string>& lines,
                      const Terminal& terminal) {
  std::string text = Tinted(what, Tint::kBold, terminal) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  for (const Sheet& sheet : SheetsOf(agreement)) text += "\n" + TextOf(sheet, terminal);
  return text;
}

std::string PrintMarkdown(const Agreement& agreement, const std::string& what, const std::vector<std::string>& lines) {
  std::string text = fmt::format("{}: {}.\n", what, fmt::join(lines, "; "));
  for (const Sheet& sheet : SheetsOf(agreement)) text += "\n" + Markdown(sheet);
  return text;
}

std::string Print(const RecordsCompareCommand& command, const Agreement& agreement, const std::string& source,
                  const Selection& here, const TimeTable& there) {
  const std::string what = fmt::format("{} over {}", source, command.other.string());
  const std::vector<std::string> lines = Lines(agreement, here, there);
  switch (command.format) {
    case ReportFormat::kJson: {
      Json json = {{"command", "records compare"},       {"source", source},
                   {"other", command.other.string()},    {"ignored", there.ignored},
                   {"device", here.setting.device_name}, {"protocol", Name(here.protocol)}};
      json.update(AgreementJson(agreement));
      return PrintJson(json);
    }
    case ReportFormat::kCsv:
      return AgreementCsv(agreement);
    case ReportFormat::kMarkdown:
      return PrintMarkdown(agreement, what, lines);
    case ReportFormat::kText:
      break;
  }
  return PrintText(agreement, what, lines, DescribeTerminal(STDOUT_FILENO));
}

}  // namespace

Result<int> Run(const RecordsCompareCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectMeasurements(command.selection));
  SelectionOptions options{.number_types = {command.type, command.accumulation},
                           .protocol = command.protocol,
                           .device_key = command.device_key};
  if (command.shapes != "all") {
    ASSIGN_OR_RETURN(options.shapes, LoadShapeLists(command.shapes));
  }
  const Result<Selection> here = SelectRecords(selected.trials, options);
  if (!here.ok()) return WithContext(here.status(), selected.source);
  ASSIGN_OR_RETURN(const TimeTable there, ReadOther(command, *here, options));
  const Result<Agreement> agreement = Agree(*here, there.times_ns, command.options);
  if (!agreement.ok()) return WithContext(agreement.status(), command.other.string());
  RETURN_IF_ERROR(WriteOut(Print(command, *agreement, selected.source, *here, there)));
  return kExitDone;
}

}  // namespace gemmsmith
