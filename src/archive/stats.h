// Counts trials one by one, wherever they come from.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "archive/archive.h"

namespace gemmsmith {

class StatsCollector {
 public:
  void Add(std::string_view problem, std::string_view subject, OutcomeKind kind, int64_t unix_ms);
  // The order of outcomes is that of their stages; kinds that do not occur are left out.
  ArchiveStats Finish(std::vector<Setting> settings) const;

 private:
  std::set<std::string, std::less<>> problems_, plans_;
  std::set<std::pair<std::string, std::string>> cells_;
  std::array<int64_t, size_t(kLastOutcomeKind) + 1> by_kind_{};
  int64_t trials_ = 0, first_unix_ms_ = 0, last_unix_ms_ = 0;
};

}  // namespace gemmsmith
