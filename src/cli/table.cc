#include "cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace gemmsmith {

void Table::Add(std::vector<std::string> row) {
  GEMMSMITH_CHECK(row.size() == columns_.size(), "{} cells, {} columns", row.size(), columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  std::string line = "  ";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - cells[i].size(), ' ');
    line += columns_[i].align == Align::kLeft ? cells[i] + padding : padding + cells[i];
    if (i + 1 < cells.size()) line += "  ";
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string Table::Print(const Terminal& terminal) const {
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string rule = "  ";
  for (size_t i = 0; i < widths.size(); ++i) {
    for (size_t c = 0; c < widths[i] + (i + 1 < widths.size() ? 2 : 0); ++c) rule += terminal.unicode ? "─" : "-";
  }
  std::string text =
      Tinted(Line(titles, widths), Tint::kBold, terminal) + "\n" + Tinted(rule, Tint::kDim, terminal) + "\n";
  for (const std::vector<std::string>& row : rows_) text += Line(row, widths) + "\n";
  return text;
}

}  // namespace gemmsmith
