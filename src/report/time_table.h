// Times of the libraries' variants by shape, as another program wrote them down.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

// By variant ("cublas_nn", "lt_auto_tn"), then by shape.
using VariantTimes = std::map<std::string, std::map<Shape, double>>;

struct TimeTableOptions {
  std::vector<std::string> variants;         // the names that count
  std::map<std::string, std::string> names;  // of theirs to those of ours: of columns, and of variants in cells
  std::optional<double> unit_ns;             // of times whose column does not say it
};

struct TimeTable {
  VariantTimes times_ns;
  std::vector<std::string> ignored;  // columns, or variants in cells, that are none of `variants`
};

// CSV (RFC 4180, a header line). Which problem: a column `shape` ("256x512x4096"), or m, n and k. Then either a column
// a variant with its times, or a line a variant: `variant`, perhaps `layout` (nn or tn, where the variant does not say
// it), and `time`. A column of times says its unit by its end (cublas_nn_us, time_ns, time_ms), or `unit_ns` does.
// InvalidArgument with line and reason; empty cells are no times.
Result<TimeTable> ParseTimeTable(std::string_view csv, const TimeTableOptions& options);

}  // namespace gemmsmith
