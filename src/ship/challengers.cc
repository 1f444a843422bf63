#include "ship/challengers.h"

#include <algorithm>

namespace gemmsmith {

void Challengers::Take(const Trial& trial) {
  if (!trial.IsTimedPlan()) return;
  FindingsOfCampaigns& campaigns = problems_[trial.gemm];
  Findings& findings = campaigns.try_emplace(trial.campaign, Findings{BestPlan(trial)}).first->second;
  findings.best.Take(trial);
  if (IsThorough(trial.outcome.protocol)) findings.raced.insert(trial.plan());
  findings.latest_unix_ms = std::max(findings.latest_unix_ms, trial.unix_ms);
}

std::vector<Plan> Challengers::PlansOf(const FindingsOfCampaigns& campaigns) {
  std::vector<const Findings*> latest_first;
  for (const auto& [name, findings] : campaigns) latest_first.push_back(&findings);
  std::ranges::stable_sort(latest_first, std::ranges::greater(),
                           [](const Findings* findings) { return findings->latest_unix_ms; });
  std::vector<Plan> plans;
  std::set<Plan> seen;
  for (const Findings* findings : latest_first) {
    const Plan& best = findings->best.plan();
    if (seen.insert(best).second) plans.push_back(best);
    seen.insert(findings->raced.begin(), findings->raced.end());
  }
  return plans;
}

std::vector<Challenge> Challengers::All() const {
  std::vector<Challenge> all;
  for (const auto& [gemm, campaigns] : problems_) all.push_back({gemm, PlansOf(campaigns)});
  return all;
}

}  // namespace gemmsmith
