#include "report/sheet.h"

#include <fmt/format.h>

#include "base/text.h"

#include <algorithm>

#include "base/check.h"

namespace gemmsmith {
namespace {

// A bar within a cell would end it.
std::string Escaped(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (c == '|') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths, const Sheet& sheet) {
  std::string line = "|";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - cells[i].size(), ' ');
    line += " " + (sheet.columns[i].is_number ? padding + cells[i] : cells[i] + padding) + " |";
  }
  return line + "\n";
}

}  // namespace

std::string Markdown(const Sheet& sheet) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Sheet::Column& column : sheet.columns) lines[0].push_back(Escaped(column.title));
  for (const std::vector<std::string>& row : sheet.rows) {
    GEMMSMITH_CHECK(row.size() == sheet.columns.size(), "{} cells, {} columns", row.size(), sheet.columns.size());
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(Escaped(cell));
  }
  std::vector<size_t> widths(sheet.columns.size(), 3);
  for (const std::vector<std::string>& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string rule = "|";
  for (size_t i = 0; i < widths.size(); ++i)
    rule += " " + std::string(widths[i] - 1, '-') + (sheet.columns[i].is_number ? ": |" : "- |");
  std::string text = "**" + sheet.caption + "**\n\n" + Line(lines[0], widths, sheet) + rule + "\n";
  for (size_t i = 1; i < lines.size(); ++i) text += Line(lines[i], widths, sheet);
  return text;
}

std::string RatioCell(double ratio) { return fmt::format("{:.3f}", ratio); }
std::string SpeedUpCell(double ratio) { return fmt::format("{:.3f}x", ratio); }
std::string MicrosecondsCell(double time_ns) { return fmt::format("{:.2f}", time_ns / 1e3); }

std::string DatesCell(int64_t first_unix_ms, int64_t last_unix_ms) {
  const std::string first = DateText(first_unix_ms), last = DateText(last_unix_ms);
  return first == last ? first : first + " to " + last;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace gemmsmith
