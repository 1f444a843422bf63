#include "report/techniques.h"

#include <algorithm>
#include <limits>

#include "program/wgmma_family.h"
#include "report/padding.h"
#include "report/winning_plans.h"

namespace gemmsmith {
namespace {

std::optional<bool> OfWgmma(const Plan& plan, bool (*is_used)(const WgmmaPlan&)) {
  return plan.family == FamilyId::kWgmma ? std::optional(is_used(WgmmaPlan(plan))) : std::nullopt;
}

std::optional<bool> OfPersistent(const Plan& plan, bool (*is_used)(const WgmmaPlan&)) {
  if (plan.family != FamilyId::kWgmma || !WgmmaPlan(plan).is_persistent()) return std::nullopt;
  return is_used(WgmmaPlan(plan));
}

std::optional<bool> OfOneTile(const Plan& plan, bool (*is_used)(const WgmmaPlan&)) {
  if (plan.family != FamilyId::kWgmma || WgmmaPlan(plan).is_persistent()) return std::nullopt;
  return is_used(WgmmaPlan(plan));
}

// Of plans that have this schedule or the cooperative one.
std::optional<bool> NotCooperativeBut(Schedule schedule, const Plan& plan) {
  if (plan.family != FamilyId::kWgmma) return std::nullopt;
  const Schedule its_own = WgmmaPlan(plan).schedule;
  if (its_own != schedule && its_own != Schedule::kCooperative) return std::nullopt;
  return its_own == schedule;
}

const Technique kTechniques[] = {
    {"family",
     "wgmma",
     "direct",
     {},
     [](const Plan& plan, const Shape&) { return std::optional(plan.family == FamilyId::kWgmma); },
     true},
    {"persistent",
     "a persistent schedule",
     "one tile a CTA",
     {"schedule", "ctas"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.is_persistent(); });
     }},
    {"pingpong",
     "ping-pong",
     "a cooperative schedule",
     {"schedule"},
     [](const Plan& plan, const Shape&) { return NotCooperativeBut(Schedule::kPingPong, plan); }},
    {"unaided",
     "no producer",
     "a cooperative schedule",
     {"schedule"},
     [](const Plan& plan, const Shape&) { return NotCooperativeBut(Schedule::kUnaided, plan); }},
    {"split",
     "a split K",
     "a whole K",
     {"split", "reduction"},
     [](const Plan& plan, const Shape&) { return std::optional(plan.Get("split") > 1); }},
    {"cluster",
     "clusters",
     "no clusters",
     {"cluster_m", "cluster_n"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.shares_copies(); });
     }},
    {"swapped",
     "swapped roles",
     "straight roles",
     {"roles"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.is_swapped(); });
     }},
    {"raster",
     "a raster of groups",
     "a raster along m or n",
     {"raster"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.raster > 1; });
     }},
    {"placed",
     "tiles by place",
     "tiles by launch",
     {"place", "raster"},
     [](const Plan& plan, const Shape&) {
       return OfPersistent(plan, [](const WgmmaPlan& wgmma) { return wgmma.is_placed; });
     }},
    {"back_and_forth",
     "a walk back and forth",
     "a walk onward",
     {"walk", "store"},
     [](const Plan& plan, const Shape&) {
       return OfPersistent(plan, [](const WgmmaPlan& wgmma) { return wgmma.turns_back(); });
     }},
    {"alternating",
     "launches that alternate",
     "launches that are alike",
     {"walk", "stream", "keep", "kept"},
     [](const Plan& plan, const Shape&) {
       return OfOneTile(plan, [](const WgmmaPlan& wgmma) { return wgmma.alternates(); });
     }},
    {"stream",
     "a streamed operand",
     "no stream",
     {"stream"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.stream != Stream::kNone; });
     }},
    {"in_turn",
     "ending in turn",
     "ending together",
     {"finish"},
     [](const Plan& plan, const Shape&) {
       return OfWgmma(plan, [](const WgmmaPlan& wgmma) { return wgmma.ends_in_turn; });
     }},
    {"fixed",
     "fixed dimensions",
     "run-time dimensions",
     {"fixed"},
     [](const Plan& plan, const Shape&) { return std::optional(plan.Get("fixed") != int(FixedDimensions::kNone)); }},
    {"ragged",
     "ragged tiles",
     "dividing tiles",
     {},
     [](const Plan& plan, const Shape& shape) { return std::optional(IsRagged(plan, shape)); }},
};

// What the plans of one problem say of a technique.
struct Contest {
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

Contest ContestOf(const Technique& technique, const Shape& shape, const PlansOfPlace& plans) {
  Contest contest;
  const auto& [fastest, its_trial] =
      *std::ranges::min_element(plans, {}, [](const auto& timed) { return TimeNs(*timed.second, Clock::kDevice); });
  contest.best_of_all_ns = TimeNs(*its_trial, Clock::kDevice);
  std::map<Plan, std::vector<double>> times[2];
  for (const auto& [plan, trial] : plans) {
    if (!technique.across_families && plan.family != fastest.family) continue;
    const double time_ns = TimeNs(*trial, Clock::kDevice);
    const std::optional<bool> is_used = technique.is_used(plan, shape);
    if (!is_used) continue;
    ++contest.plans[*is_used];
    contest.best_ns[*is_used] = std::min(contest.best_ns[*is_used], time_ns);
    if (!technique.axes.empty()) times[*is_used][Without(plan, technique.axes)].push_back(time_ns);
  }
  for (const auto& [rest, with] : times[true]) {
    const auto twins = times[false].find(rest);
    if (twins == times[false].end()) continue;
    for (const double with_ns : with)
      for (const double without_ns : twins->second) contest.twins.push_back(with_ns / without_ns);
  }
  return contest;
}

TechniqueRow RowOf(const Technique& technique, const std::string& group, const std::vector<Contest>& contests) {
  TechniqueRow row{.technique = &technique, .group = group};
  std::vector<double> ratios, twins;
  for (const Contest& contest : contests) {
    ratios.push_back(contest.best_ns[true] / contest.best_ns[false]);
    row.best += contest.best_ns[true] == contest.best_of_all_ns;
    row.plans_with += contest.plans[true];
    row.plans_without += contest.plans[false];
    row.problems_with_twins += !contest.twins.empty();
    twins.insert(twins.end(), contest.twins.begin(), contest.twins.end());
  }
  row.ratio = SummaryOf(ratios);
  row.plans_with /= double(contests.size());
  row.plans_without /= double(contests.size());
  if (!twins.empty()) row.twins = SummaryOf(twins);
  return row;
}

}  // namespace

std::span<const Technique> Techniques() { return kTechniques; }

std::map<Gemm, PlansOfPlace> PlansOfProblems(const std::vector<Trial>& trials, const Selection& selection) {
  const auto is_wanted = [&](const Trial& trial) { return IsOfSelectedShape(trial, selection); };
  std::map<Gemm, std::pair<Protocol, PlansOfPlace>> most;
  for (auto& [place, plans] : TimedPlans(trials, Clock::kDevice, is_wanted)) {
    const auto [known, is_new] = most.try_emplace(place.gemm, place.protocol, plans);
    auto& [protocol, of_protocol] = known->second;
    if (is_new || plans.size() < of_protocol.size()) continue;
    if (plans.size() > of_protocol.size() || MoreCareful(place.protocol, protocol))
      known->second = {place.protocol, plans};
  }
  std::map<Gemm, PlansOfPlace> problems;
  for (auto& [gemm, of_protocol] : most) problems[gemm] = std::move(of_protocol.second);
  return problems;
}

std::vector<TechniqueRow> TechniqueRows(const std::map<Gemm, PlansOfPlace>& problems) {
  std::vector<TechniqueRow> rows;
  for (const Technique& technique : kTechniques) {
    std::vector<Contest> all;
    std::map<Label, std::vector<Contest>> classes;
    for (const auto& [gemm, plans] : problems) {
      const Contest contest = ContestOf(technique, gemm.shape, plans);
      if (!contest.HasBoth()) continue;
      all.push_back(contest);
      classes[ClassGroup(gemm.shape)].push_back(contest);
    }
    if (all.empty()) continue;
    rows.push_back(RowOf(technique, kAllGroups, all));
    for (const auto& [group, contests] : classes) rows.push_back(RowOf(technique, group.text, contests));
  }
  return rows;
}

}  // namespace gemmsmith
