// What optimize found for a set of shapes, for people and for programs. Holds nothing that depends on when or how fast
// it ran.
#pragma once

#include <string>
#include <vector>

#include "cli/optimize_report.h"
#include "cli/terminal.h"

namespace gemmsmith {

struct SetReport {
  std::string set;
  size_t shapes = 0;
  std::vector<Layout> layouts;
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  bool replayed = false;
  std::string recorded_date;  // of a replay
  Setting setting;
  std::string proposer;
  Objective objective = Objective::kTime;
  uint64_t seed = 0;
  std::string campaign;
  std::string archive_path;
  std::vector<LayoutFinding> problems;
  std::vector<Gemm> not_recorded;  // left out of a replay
  std::string stop_reason;         // empty: nothing is left
  std::vector<std::string> record_files;

  int64_t Complete() const;
  int64_t Passed() const;  // problems with a best kernel
};

std::string PrintText(const SetReport& report, const Terminal& terminal);
std::string PrintJson(const SetReport& report);

}  // namespace gemmsmith
