#include "search/ranking.h"

#include <algorithm>

namespace gemmsmith {

void Ranking::Add(const Plan& plan, const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kMeasured) return;
  std::erase_if(plans_, [&](const RankedPlan& ranked) { return ranked.plan == plan; });
  const RankedPlan ranked{pace_.TimeNs(outcome), plan};
  plans_.insert(std::lower_bound(plans_.begin(), plans_.end(), ranked), ranked);
}

}  // namespace gemmsmith
