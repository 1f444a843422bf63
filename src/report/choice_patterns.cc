#include "report/choice_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/statistics.h"
#include "base/text.h"
#include "program/family.h"
#include "report/timed_plans.h"

namespace gemmsmith {
namespace {

struct Chosen {
  Shape shape;
  Label value;
  bool unopposed = false;
};

// Of each problem the plans that were timed on it, in whatever protocol.
using PlansTimed = std::map<Gemm, std::set<Plan>>;

PlansTimed PlansTimedBy(Clock clock, const std::vector<Trial>& trials, const Selection& selection) {
  PlansTimed timed;
  const auto is_wanted = [&](const Trial& trial) { return IsOfSelectedShape(trial, selection); };
  for (const auto& [place, plans] : TimedPlans(trials, clock, is_wanted))
    for (const auto& [plan, trial] : plans) timed[place.gemm].insert(plan);
  return timed;
}

bool CountsFor(const Axis& choice, const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  return family.HasSay(size_t(family.IndexOf(choice.name)), plan);
}

bool IsNumber(std::string_view word) { return ParseInteger(word).has_value(); }

// Words that are numbers count as one value, "2..12": which number is a matter of correlations.
Label ChoiceLabel(const Plan& plan, const Axis& choice) {
  Label label = AxisLabel(plan, choice.name);
  if (!IsNumber(label.text)) return label;
  const auto first = std::find_if(choice.words.begin(), choice.words.end(), IsNumber);
  const auto last = std::find_if(choice.words.rbegin(), choice.words.rend(), IsNumber);
  return {{choice.values[size_t(first - choice.words.begin())]}, fmt::format("{}..{}", *first, *last)};
}

bool HasAlternative(const PlansTimed& timed, const WinningPlan& winner,
                    const std::function<bool(const Plan&)>& is_alternative) {
  const auto plans = timed.find(winner.gemm);
  return plans != timed.end() && std::ranges::any_of(plans->second, is_alternative);
}

// Of the winner's family, with another value.
bool HasAlternativeIn(const Axis& choice, const PlansTimed& timed, const WinningPlan& winner, const Label& value) {
  const size_t axis = size_t(GetFamily(winner.plan.family).IndexOf(choice.name));
  return HasAlternative(timed, winner, [&](const Plan& plan) {
    return plan.family == winner.plan.family && plan.values[axis] != winner.plan.values[axis] &&
           CountsFor(choice, plan) && ChoiceLabel(plan, choice) != value;
  });
}

std::vector<Tally> TalliesBy(Label (*group_of)(const Shape&), const std::vector<Chosen>& winners) {
  std::map<Label, Tally> tallies;
  for (const Chosen& winner : winners) {
    const Label group = group_of(winner.shape);
    Tally& tally = tallies[group];
    tally.group = group.text;
    tally.Add(winner.value, winner.unopposed);
  }
  std::vector<Tally> list;
  for (auto& [group, tally] : tallies) list.push_back(std::move(tally));
  return list;
}

std::optional<double> CorrelationWithSize(const Label& value, const std::vector<Chosen>& winners) {
  std::vector<double> sizes, has;
  for (const Chosen& winner : winners) {
    sizes.push_back(winner.shape.Volume());
    has.push_back(winner.value == value ? 1 : 0);
  }
  return RankCorrelation(sizes, has);
}

ChoicePattern PatternOf(std::string family, std::string choice, const std::vector<Chosen>& winners) {
  ChoicePattern pattern{.family = std::move(family), .choice = std::move(choice)};
  pattern.all.group = kAllGroups;
  for (const Chosen& winner : winners) pattern.all.Add(winner.value, winner.unopposed);
  for (const auto& [value, count] : pattern.all.counts)
    pattern.values.push_back({value, CorrelationWithSize(value, winners)});
  pattern.by_class = TalliesBy(ClassGroup, winners);
  pattern.by_size = TalliesBy(SizeGroup, winners);
  return pattern;
}

}  // namespace

std::vector<ChoicePattern> ChoicePatterns(const std::vector<Trial>& trials, const Selection& selection) {
  const PlansTimed timed = PlansTimedBy(selection.leading, trials, selection),
                   timed_in_chains = PlansTimedBy(ChainedOf(selection.leading), trials, selection);
  const std::vector<WinningPlan> of_device = WinningPlans(selection, selection.leading),
                                 of_chains = WinningPlans(selection, ChainedOf(selection.leading));
  std::vector<ChoicePattern> patterns;
  const auto add = [&](std::string family, std::string choice, const std::vector<Chosen>& winners) {
    if (!winners.empty()) patterns.push_back(PatternOf(std::move(family), std::move(choice), winners));
  };
  std::vector<Chosen> families;
  for (const WinningPlan& winner : of_device)
    families.push_back(
        {winner.gemm.shape,
         {{int(winner.plan.family)}, std::string(GetFamily(winner.plan.family).name)},
         !HasAlternative(timed, winner, [&](const Plan& plan) { return plan.family != winner.plan.family; })});
  add("any", "family", families);
  for (const Family& family : Families())
    for (const Axis& axis : family.axes) {
      if (axis.words.empty() || IsRetired(axis)) continue;
      const bool is_of_chains = axis.role == AxisRole::kChain;
      std::vector<Chosen> winners;
      for (const WinningPlan& winner : is_of_chains ? of_chains : of_device)
        if (winner.plan.family == family.id && CountsFor(axis, winner.plan)) {
          const Label value = ChoiceLabel(winner.plan, axis);
          const PlansTimed& alternatives = is_of_chains ? timed_in_chains : timed;
          winners.push_back({winner.gemm.shape, value, !HasAlternativeIn(axis, alternatives, winner, value)});
        }
      add(std::string(family.name), std::string(axis.name), winners);
    }
  return patterns;
}

}  // namespace gemmsmith
