#include "cli/sheet_text.h"

#include "cli/table.h"

namespace gemmsmith {

std::string TextOf(const Sheet& sheet, const Terminal& terminal) {
  std::vector<Table::Column> columns;
  for (const Sheet::Column& column : sheet.columns)
    columns.push_back({column.title, column.is_number ? Table::Align::kRight : Table::Align::kLeft});
  Table table(std::move(columns));
  for (const std::vector<std::string>& row : sheet.rows) table.Add(row);
  return "  " + sheet.caption + "\n" + table.Print(terminal);
}

}  // namespace gemmsmith
