#include "profile/nsight_compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace gemmsmith {

namespace {

using CsvRow = std::vector<std::string>;

// Fields in quotes or without; a doubled quote stands for one. Its fields hold no line breaks.
CsvRow ParseCsvRow(std::string_view line) {
  CsvRow row(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      row.back().push_back(line[i++]);
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      row.emplace_back();
    } else if (line[i] != '\r') {
      row.back().push_back(line[i]);
    }
  }
  return row;
}

// The table begins with a header whose first column is ID; before it come words of Nsight Compute and of the program.
std::vector<CsvRow> FindTable(std::string_view output) {
  std::vector<CsvRow> rows;
  for (const std::string_view line : Split(output, '\n')) {
    const bool is_header = line.starts_with("\"ID\",") || line.starts_with("ID,");
    if (rows.empty() && !is_header) continue;
    if (!rows.empty() && (line.empty() || line.starts_with("=="))) continue;
    rows.push_back(ParseCsvRow(line));
    if (rows.back().size() != rows.front().size()) rows.pop_back();  // words again
  }
  return rows;
}

std::optional<size_t> ColumnOf(const CsvRow& header, std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::nullopt : std::optional(size_t(found - header.begin()));
}

// "1,234.56" or "4.2e-05": thousands are grouped, and what is very small has an exponent.
std::optional<double> ReadValue(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// The factor from `unit` to nanoseconds or bytes; 1 for any other unit.
double FactorOf(std::string_view unit) {
  unit = unit.substr(0, unit.find('/'));
  constexpr std::pair<std::string_view, double> kFactors[] = {
      {"ns", 1},  {"nsecond", 1},  {"us", 1e3},    {"usecond", 1e3}, {"ms", 1e6},    {"msecond", 1e6},
      {"s", 1e9}, {"second", 1e9}, {"Kbyte", 1e3}, {"Mbyte", 1e6},   {"Gbyte", 1e9}, {"Tbyte", 1e12}};
  for (const auto& [name, factor] : kFactors)
    if (unit == name) return factor;
  return 1;
}

class Readings {
 public:
  void Add(const std::string& metric, const std::string& unit, const std::string& text) {
    if (const std::optional<double> value = ReadValue(text)) values_[metric] = *value * FactorOf(unit);
  }
  std::map<std::string, double> Take() && { return std::move(values_); }

 private:
  std::map<std::string, double> values_;
};

std::map<std::string, double> ReadRowsOfMetrics(const std::vector<CsvRow>& table, size_t name, size_t unit,
                                                size_t value) {
  Readings readings;
  for (size_t i = 1; i < table.size(); ++i) readings.Add(table[i][name], table[i][unit], table[i][value]);
  return std::move(readings).Take();
}

// Behind the header a row of units, then one row a kernel.
std::map<std::string, double> ReadColumnsOfMetrics(const std::vector<CsvRow>& table) {
  Readings readings;
  for (size_t column = 0; column < table[0].size(); ++column)
    if (table[0][column].find("__") != std::string::npos)
      readings.Add(table[0][column], table[1][column], table[2][column]);
  return std::move(readings).Take();
}

// The reason why nothing was profiled: the tool's first error, else its first warning, else the last line of output.
// The next line belongs to it if it ends in a colon.
std::string Complaint(std::string_view output) {
  const std::vector<std::string_view> lines = Split(output, '\n');
  for (const std::string_view tag : {"==ERROR== ", "==WARNING== "}) {
    const auto said =
        std::find_if(lines.begin(), lines.end(), [&](std::string_view line) { return line.starts_with(tag); });
    if (said == lines.end()) continue;
    std::string complaint(said->substr(tag.size()));
    if (!complaint.ends_with(':') || said + 1 == lines.end()) return complaint;
    const std::string_view next = said[1];
    return fmt::format("{} {}", complaint, next.starts_with(tag) ? next.substr(tag.size()) : next);
  }
  std::string_view last = "it said nothing";
  for (const std::string_view line : lines)
    if (!line.empty() && !line.starts_with("==PROF==")) last = line;
  return std::string(last);
}

}  // namespace

std::vector<std::string> NsightComputeCommand(const std::filesystem::path& ncu,
                                              std::span<const std::string_view> metrics, const std::string& kernel,
                                              const std::vector<std::string>& watched) {
  std::vector<std::string> command = {ncu.string(),
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--print-units",
                                      "base",
                                      "--metrics",
                                      fmt::format("{}", fmt::join(metrics, ",")),
                                      "--kernel-name",
                                      kernel,
                                      "--launch-skip",
                                      "1",
                                      "--launch-count",
                                      "1",
                                      "--cache-control",
                                      "none",
                                      "--clock-control",
                                      "none",
                                      "--target-processes",
                                      "application-only"};
  command.insert(command.end(), watched.begin(), watched.end());
  return command;
}

Result<std::map<std::string, double>> ParseNsightCompute(std::string_view output) {
  const std::vector<CsvRow> table = FindTable(output);
  std::map<std::string, double> values;
  if (!table.empty()) {
    const auto name = ColumnOf(table[0], "Metric Name"), unit = ColumnOf(table[0], "Metric Unit"),
               value = ColumnOf(table[0], "Metric Value");
    if (name && unit && value)
      values = ReadRowsOfMetrics(table, *name, *unit, *value);
    else if (table.size() >= 3)
      values = ReadColumnsOfMetrics(table);
  }
  if (values.empty()) return Unavailable(fmt::format("Nsight Compute profiled nothing: {}", Complaint(output)));
  return values;
}

}  // namespace gemmsmith
