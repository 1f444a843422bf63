// For tests: a finite space of direct plans and landscapes of times over it. Legality plays no part.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "outcome/outcome.h"
#include "program/family.h"
#include "program/space.h"

namespace gemmsmith {

// The default plan with its first `count` axes varied over all their live values.
inline Space SyntheticSpace(int count) {
  std::vector<Plan> plans = {DefaultPlan(FamilyId::kDirect)};
  const std::span<const Axis> axes = GetFamily(FamilyId::kDirect).axes;
  for (int axis = 0; axis < std::min(count, int(axes.size())); ++axis) {
    std::vector<Plan> wider;
    for (const Plan& plan : plans) {
      for (const int value : axes[axis].live_values()) {
        wider.push_back(plan);
        wider.back().values[axis] = value;
      }
    }
    plans = std::move(wider);
  }
  return Space(std::move(plans));
}

// Rises with every step away from one plan, the last of the space: a bowl far from where searches start.
inline double BowlNs(const Space& space, const Plan& plan) {
  const Plan& bottom = space.plans().back();
  const std::span<const Axis> axes = GetFamily(plan.family).axes;
  double time_ns = 1000;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int steps = axes[i].IndexOf(plan.values[i]) - axes[i].IndexOf(bottom.values[i]);
    time_ns += 50.0 * (1 + double(i) / 8) * steps * steps;
  }
  return time_ns;
}

inline Outcome MeasuredOutcome(double time_ns) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.stage = "timing";
  outcome.verdict.passed = true;
  outcome.timings.push_back({.contender = "ours",
                             .clock = Clock::kDeviceCold,
                             .median_ns = time_ns,
                             .mean_ns = time_ns,
                             .interval = {time_ns * 0.99, time_ns * 1.01},
                             .sample_count = 3,
                             .samples_ns = {float(time_ns), float(time_ns), float(time_ns)}});
  return outcome;
}

inline Outcome FailedOutcome(OutcomeKind kind, std::string reason) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.stage = "correctness";
  outcome.reason = std::move(reason);
  return outcome;
}

}  // namespace gemmsmith
