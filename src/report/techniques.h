// The worth of a technique: plans that use it against plans of the same problem that do not.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/ratio_summary.h"
#include "report/selection.h"
#include "report/timed_plans.h"

namespace gemmsmith {

// The families' techniques, and those that no family owns.
struct ComparedTechnique {
  std::string_view name;               // "split"
  std::string_view with, without;      // in sentences: "a split K", "a whole K"
  std::vector<std::string_view> axes;  // twins differ in these alone; empty: there are no twins
  std::function<std::optional<bool>(const Plan&, const Shape&)> is_used;  // nullopt: the plan is on neither side
  bool across_families = false;  // else only plans of the family of a problem's fastest plan count
};
std::span<const ComparedTechnique> Techniques();

// On the problems where both sides were timed. Ratios are of times: below 1 the technique is the faster one.
struct TechniqueRow {
  const ComparedTechnique* technique = nullptr;
  std::string group;   // a class, or all
  int best = 0;        // problems whose fastest plan of all uses it
  RatioSummary ratio;  // the best plan with it over the best without; its count is that of problems
  double plans_with = 0, plans_without = 0;  // that were timed on a problem, on average
  std::optional<RatioSummary> twins;         // plans that differ in nothing else; its count is that of pairs
  int problems_with_twins = 0;
};

// The plans that may be compared, of the selection's device, type and shapes, timed on its leading clock. A problem
// counts once, in the protocol that most of its plans were timed in, of equals the more careful one.
std::map<Gemm, TrialsByPlan> PlansOfProblems(const std::vector<Trial>& trials, const Selection& selection);
// Technique by technique all problems, then class by class; no row without problems.
std::vector<TechniqueRow> TechniqueRows(const std::map<Gemm, TrialsByPlan>& problems, Clock clock);

}  // namespace gemmsmith
