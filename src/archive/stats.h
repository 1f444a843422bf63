// The number of trials, plans, problems and outcomes of an archive or of a list.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/trial.h"

namespace gemmsmith {

// Plans, problems and cells are those of trials with a plan.
struct ArchiveStats {
  int64_t trials = 0, plans = 0, problems = 0, missing_cells = 0;
  std::vector<std::pair<std::string, int64_t>> by_outcome;  // in the order of OutcomeKind, without those of no trial
  std::vector<Setting> settings;
  int64_t first_unix_ms = 0, last_unix_ms = 0;
  bool operator==(const ArchiveStats&) const = default;
};

ArchiveStats StatsOf(const std::vector<Trial>& trials);

// Counts trials one by one; problem and subject by their canonical texts.
class StatsCollector {
 public:
  void Add(std::string_view problem, std::string_view subject, OutcomeKind kind, int64_t unix_ms);
  ArchiveStats Finish(std::vector<Setting> settings) const;

 private:
  std::set<std::string, std::less<>> problems_, plans_;
  std::set<std::pair<std::string, std::string>> cells_;
  std::array<int64_t, size_t(kLastOutcomeKind) + 1> by_kind_{};
  int64_t trials_ = 0, first_unix_ms_ = 0, last_unix_ms_ = 0;
};

}  // namespace gemmsmith
