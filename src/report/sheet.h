// A table for people: a caption and cells of text. Written as Markdown here, on a terminal by whoever prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gemmsmith {

struct Sheet {
  struct Column {
    std::string title;
    bool is_number = true;  // stands to the right
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// The caption in bold, and a table aligned in the source too.
std::string Markdown(const Sheet& sheet);
// Numbers of tables: "0.988", "1.077x" and "12.34" (microseconds of nanoseconds).
std::string RatioCell(double ratio);
std::string SpeedUpCell(double ratio);
std::string MicrosecondsCell(double time_ns);
// "2026-11-21", or "2026-11-21 to 2026-11-23"; UTC.
std::string DatesCell(int64_t first_unix_ms, int64_t last_unix_ms);
// As RFC 4180 has it: a text with a comma, a quote or a line break in it stands in quotes.
std::string CsvField(const std::string& text);

}  // namespace gemmsmith
