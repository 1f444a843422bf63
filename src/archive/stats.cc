#include "archive/stats.h"

#include <algorithm>

namespace gemmsmith {

void StatsCollector::Add(std::string_view problem, std::string_view subject, OutcomeKind kind, int64_t unix_ms) {
  if (IsPlanText(subject)) {
    problems_.emplace(problem);
    plans_.emplace(subject);
    cells_.emplace(problem, subject);
  }
  ++by_kind_[size_t(kind)];
  first_unix_ms_ = trials_ == 0 ? unix_ms : std::min(first_unix_ms_, unix_ms);
  last_unix_ms_ = trials_ == 0 ? unix_ms : std::max(last_unix_ms_, unix_ms);
  ++trials_;
}

ArchiveStats StatsCollector::Finish(std::vector<Setting> settings) const {
  ArchiveStats stats;
  stats.trials = trials_;
  stats.plans = int64_t(plans_.size());
  stats.problems = int64_t(problems_.size());
  stats.missing_cells = stats.plans * stats.problems - int64_t(cells_.size());
  for (size_t kind = 0; kind < by_kind_.size(); ++kind)
    if (by_kind_[kind] > 0) stats.by_outcome.emplace_back(Name(OutcomeKind(kind)), by_kind_[kind]);
  stats.settings = std::move(settings);
  stats.first_unix_ms = first_unix_ms_;
  stats.last_unix_ms = last_unix_ms_;
  return stats;
}

ArchiveStats StatsOf(const std::vector<Trial>& trials) {
  StatsCollector collector;
  std::vector<Setting> settings;
  for (const Trial& trial : trials) {
    collector.Add(Print(trial.gemm), Print(trial.subject), trial.outcome.kind, trial.unix_ms);
    if (std::find(settings.begin(), settings.end(), trial.setting) == settings.end()) settings.push_back(trial.setting);
  }
  return collector.Finish(std::move(settings));
}

}  // namespace gemmsmith
