#include "ship/challengers.h"

#include <algorithm>

namespace gemmsmith {

void Challengers::Add(const Trial& trial) {
  const bool has_raced = trial.HasPlan() && IsThorough(trial.outcome.protocol);
  if (!has_raced && !trial.IsTimedPlan()) return;
  Findings& findings = problems_[trial.gemm][trial.campaign];
  if (trial.IsTimedPlan()) {
    if (!findings.best) findings.best.emplace(trial);
    findings.best->Add(trial);
  }
  if (has_raced) findings.raced.insert(trial.plan());
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
    if (findings->best && seen.insert(findings->best->plan()).second) plans.push_back(findings->best->plan());
    seen.insert(findings->raced.begin(), findings->raced.end());
  }
  return plans;
}

bool Challengers::HasRaced(const Plan& plan, const Gemm& gemm) const {
  const auto found = problems_.find(gemm);
  return found != problems_.end() &&
         std::ranges::any_of(found->second, [&](const auto& campaign) { return campaign.second.raced.contains(plan); });
}

std::vector<Challenge> Challengers::InBothLayouts() const {
  const std::vector<Challenge> found = All();
  std::map<Gemm, std::vector<Plan>> plans;
  for (const auto& [gemm, own] : found) plans[gemm] = own;
  for (const auto& [gemm, own] : found) {
    Gemm there = gemm;
    there.kind.layout = gemm.kind.layout == kNn ? kTn : kNn;
    const bool is_one_of_them = gemm.kind.layout == kNn || gemm.kind.layout == kTn;
    if (!is_one_of_them || WithoutLayout(there) != WithoutLayout(gemm)) continue;  // or its matrices are not packed
    std::vector<Plan>& challengers = plans[there];
    for (const Plan& plan : own)
      if (!HasRaced(plan, there) && std::ranges::find(challengers, plan) == challengers.end())
        challengers.push_back(plan);
  }
  std::vector<Challenge> all;
  for (auto& [gemm, challengers] : plans)
    if (!challengers.empty()) all.push_back({gemm, std::move(challengers)});
  return all;
}

std::vector<Challenge> Challengers::All() const {
  std::vector<Challenge> all;
  for (const auto& [gemm, campaigns] : problems_)
    if (std::vector<Plan> plans = PlansOf(campaigns); !plans.empty()) all.push_back({gemm, std::move(plans)});
  return all;
}

}  // namespace gemmsmith
