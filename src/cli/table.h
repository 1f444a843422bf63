// Columns of text, as wide as they need to be.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace gemmsmith {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  // A line of titles, a rule, the rows; every line indented by two. Cells are plain ASCII.
  std::string Print(const Terminal& terminal) const;

 private:
  std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gemmsmith
