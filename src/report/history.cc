#include "report/history.h"

#include <algorithm>

namespace gemmsmith {
namespace {

using Candidates = std::vector<const Trial*>;

// Searches choose by screenings. Where only races are left of them: the protocol of most, of equally many the least
// careful.
Protocol ProtocolOfSearch(const Candidates& candidates) {
  std::map<Protocol, int> counts;
  for (const Trial* trial : candidates) ++counts[trial->outcome.protocol];
  if (counts.contains(Protocol::kScreen)) return Protocol::kScreen;
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) {
                            if (a.second != b.second) return a.second < b.second;
                            return MoreCareful(a.first, b.first);
                          })
      ->first;
}

void Add(SearchHistory& history, const Trial& trial, Clock clock) {
  ++history.outcomes[trial.outcome.kind];
  const Timing* ours = trial.outcome.Find("ours", clock);
  if (trial.outcome.kind != OutcomeKind::kMeasured || ours == nullptr) return;
  if (!history.bests.empty() && ours->median_ns >= history.bests.back().time_ns) return;
  history.bests.push_back({history.candidates(), ours->median_ns});
}

}  // namespace

int SearchHistory::candidates() const {
  int count = 0;
  for (const auto& [kind, number] : outcomes) count += number;
  return count;
}

SearchHistories HistoriesOf(const std::vector<Trial>& trials, const Selection& selection) {
  Candidates candidates;
  for (const Trial& trial : trials)
    if (!std::holds_alternative<Nobody>(trial.subject) && IsOfSelectedShape(trial, selection))
      candidates.push_back(&trial);
  if (candidates.empty()) return {};

  SearchHistories histories{.protocol = ProtocolOfSearch(candidates)};
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Trial* a, const Trial* b) { return a->unix_ms < b->unix_ms; });
  std::map<std::pair<Shape, Layout>, SearchHistory> problems;
  for (const Trial* trial : candidates) {
    if (trial->outcome.protocol != histories.protocol) continue;
    SearchHistory& history = problems[{trial->gemm.shape, trial->gemm.kind.layout}];
    history.shape = trial->gemm.shape;
    history.layout = trial->gemm.kind.layout;
    Add(history, *trial, selection.leading);
  }
  for (auto& [problem, history] : problems) histories.problems.push_back(std::move(history));
  return histories;
}

}  // namespace gemmsmith
