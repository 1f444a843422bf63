#include "campaign/measured_list.h"

#include <algorithm>

namespace gemmsmith {

void MeasuredList::Add(const std::vector<Trial>& trials, WorkQueue& queue, const OnMeasured& on_event) {
  queue.CountEvaluations(int(trials.size()));
  for (const Trial& trial : trials) {
    const OutcomeKind kind = trial.outcome.kind;
    auto counted = std::ranges::lower_bound(by_outcome, kind, {}, &std::pair<OutcomeKind, int>::first);
    if (counted == by_outcome.end() || counted->first != kind) counted = by_outcome.insert(counted, {kind, 0});
    ++counted->second;
    ++judged;
    if (on_event) on_event({.trial = &trial, .done = found + judged, .total = total});
  }
}

}  // namespace gemmsmith
