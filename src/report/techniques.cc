#include "report/techniques.h"

#include <algorithm>
#include <limits>

#include "program/family.h"
#include "report/padding.h"
#include "report/winning_plans.h"

namespace gemmsmith {
namespace {

using Used = std::optional<bool>;

Used IsWgmma(const Plan& plan, const Shape&) { return plan.family == FamilyId::kWgmma; }
Used HasRaggedTiles(const Plan& plan, const Shape& shape) { return IsRagged(plan, shape); }

// By the family's own technique of that name; nullopt where it has none.
Used ByItsFamily(std::string_view name, const Plan& plan) {
  const std::span<const Technique> techniques = GetFamily(plan.family).techniques();
  const auto found = std::ranges::find(techniques, name, &Technique::name);
  return found == techniques.end() ? std::nullopt : found->is_used(plan);
}

std::vector<ComparedTechnique> MakeTechniques() {
  std::vector<ComparedTechnique> all = {{"family", "wgmma", "direct", {}, IsWgmma, true}};
  for (const Family& family : {std::cref(GetFamily(FamilyId::kWgmma)), std::cref(GetFamily(FamilyId::kDirect))})
    for (const Technique& one : family.techniques())
      if (std::ranges::find(all, one.name, &ComparedTechnique::name) == all.end())
        all.push_back({one.name, one.with, one.without, one.axes,
                       [name = one.name](const Plan& plan, const Shape&) { return ByItsFamily(name, plan); }});
  all.push_back({"ragged", "ragged tiles", "dividing tiles", {}, HasRaggedTiles});
  return all;
}

// The plans of one problem, with and without a technique.
struct Evidence {
  double best_ns[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  int plans[2] = {0, 0};  // [is_used]
  double best_of_all_ns = 0;
  std::vector<double> twins;

  bool HasBoth() const { return plans[0] > 0 && plans[1] > 0; }
};

Plan Without(Plan plan, const std::vector<std::string_view>& axes) {
  for (const std::string_view axis : axes)
    if (const int index = GetFamily(plan.family).IndexOf(axis); index >= 0) plan.values[size_t(index)] = 0;
  return plan;
}

Evidence EvidenceOf(const ComparedTechnique& technique, const Shape& shape, const TrialsByPlan& plans, Clock clock) {
  Evidence evidence;
  const auto& [fastest, its_trial] =
      *std::ranges::min_element(plans, {}, [&](const auto& timed) { return TimeNs(*timed.second, clock); });
  evidence.best_of_all_ns = TimeNs(*its_trial, clock);
  std::map<Plan, std::vector<double>> times[2];
  for (const auto& [plan, trial] : plans) {
    if (!technique.across_families && plan.family != fastest.family) continue;
    const double time_ns = TimeNs(*trial, clock);
    const std::optional<bool> is_used = technique.is_used(plan, shape);
    if (!is_used) continue;
    ++evidence.plans[*is_used];
    evidence.best_ns[*is_used] = std::min(evidence.best_ns[*is_used], time_ns);
    if (!technique.axes.empty()) times[*is_used][Without(plan, technique.axes)].push_back(time_ns);
  }
  for (const auto& [rest, with] : times[true]) {
    const auto twins = times[false].find(rest);
    if (twins == times[false].end()) continue;
    for (const double with_ns : with)
      for (const double without_ns : twins->second) evidence.twins.push_back(with_ns / without_ns);
  }
  return evidence;
}

TechniqueRow RowOf(const ComparedTechnique& technique, const std::string& group,
                   const std::vector<Evidence>& all_evidence) {
  TechniqueRow row{.technique = &technique, .group = group};
  std::vector<double> ratios, twins;
  for (const Evidence& evidence : all_evidence) {
    ratios.push_back(evidence.best_ns[true] / evidence.best_ns[false]);
    row.best += evidence.best_ns[true] == evidence.best_of_all_ns;
    row.plans_with += evidence.plans[true];
    row.plans_without += evidence.plans[false];
    row.problems_with_twins += !evidence.twins.empty();
    twins.insert(twins.end(), evidence.twins.begin(), evidence.twins.end());
  }
  row.ratio = SummaryOf(ratios);
  row.plans_with /= double(all_evidence.size());
  row.plans_without /= double(all_evidence.size());
  if (!twins.empty()) row.twins = SummaryOf(twins);
  return row;
}

}  // namespace

std::span<const ComparedTechnique> Techniques() {
  static const std::vector<ComparedTechnique> techniques = MakeTechniques();
  return techniques;
}

std::map<Gemm, TrialsByPlan> PlansOfProblems(const std::vector<Trial>& trials, const Selection& selection) {
  const auto is_wanted = [&](const Trial& trial) { return IsOfSelectedShape(trial, selection); };
  std::map<Gemm, std::pair<Protocol, TrialsByPlan>> most;
  for (auto& [key, plans] : TimedPlans(trials, selection.leading, is_wanted)) {
    const auto [known, is_new] = most.try_emplace(key.gemm, key.protocol, plans);
    auto& [protocol, of_protocol] = known->second;
    if (is_new || plans.size() < of_protocol.size()) continue;
    if (plans.size() > of_protocol.size() || MoreCareful(key.protocol, protocol)) known->second = {key.protocol, plans};
  }
  std::map<Gemm, TrialsByPlan> problems;
  for (auto& [gemm, of_protocol] : most) problems[gemm] = std::move(of_protocol.second);
  return problems;
}

std::vector<TechniqueRow> TechniqueRows(const std::map<Gemm, TrialsByPlan>& problems, Clock clock) {
  std::vector<TechniqueRow> rows;
  for (const ComparedTechnique& technique : Techniques()) {
    std::vector<Evidence> all;
    std::map<Label, std::vector<Evidence>> classes;
    for (const auto& [gemm, plans] : problems) {
      const Evidence evidence = EvidenceOf(technique, gemm.shape, plans, clock);
      if (!evidence.HasBoth()) continue;
      all.push_back(evidence);
      classes[ClassGroup(gemm.shape)].push_back(evidence);
    }
    if (all.empty()) continue;
    rows.push_back(RowOf(technique, kAllGroups, all));
    for (const auto& [group, all_evidence] : classes) rows.push_back(RowOf(technique, group.text, all_evidence));
  }
  return rows;
}

}  // namespace gemmsmith
