// The plans that were timed on a problem: of each the newest time.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "archive/trial.h"

namespace gemmsmith {

// What plans that may be compared have in common beside their axes.
struct RecordKey {
  Gemm gemm;
  std::string device_key;
  Protocol protocol = Protocol::kScreen;
  auto operator<=>(const RecordKey&) const = default;
};
using TrialsByPlan = std::map<Plan, const Trial*>;

// Of trials with a plan that passed every test, was timed on this clock, and is wanted. They live as long as `trials`.
std::map<RecordKey, TrialsByPlan> TimedPlans(const std::vector<Trial>& trials, Clock clock,
                                             const std::function<bool(const Trial&)>& is_wanted);
// Of a trial among them.
double TimeNs(const Trial& trial, Clock clock);

}  // namespace gemmsmith
