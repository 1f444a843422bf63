#include "search/pace.h"

#include <algorithm>
#include <cmath>

#include "program/family.h"

namespace gemmsmith {

namespace {

// The share is none at the first length, where races become windows, and whole from the second one on. It grows in
// between, so that no plan gains by being a little slower. The slope lies between those fitted to heats and to finals
// (docs/lab/sweeps.md).
constexpr double kSettlesFromNs = 300e3, kSettlesInFullFromNs = 400e3;
constexpr double kSettledSlope = 0.09, kUsualTraffic = 1.5;

}  // namespace

double SteadyStateFactor(const Plan& plan, double call_ns) {
  const std::optional<double> traffic = GetFamily(plan.family).OperandTraffic(plan);
  if (!traffic) return 1;
  const double in_full =
      std::clamp(std::log(call_ns / kSettlesFromNs) / std::log(kSettlesInFullFromNs / kSettlesFromNs), 0.0, 1.0);
  return std::exp(in_full * kSettledSlope * (*traffic - kUsualTraffic));
}

double SteadyStateFactor(const Plan& plan, const Outcome& outcome, double call_ns) {
  const bool has_windows = outcome.LeadingClock() == Clock::kDevice;
  return !has_windows || outcome.conditions.in_steady_state ? 1 : SteadyStateFactor(plan, call_ns);
}

double Pace::TimeNs(const Plan& plan, const Outcome& outcome) {
  const double at_pace_ns = AtPaceNs(outcome);
  return steady_state_ ? at_pace_ns * SteadyStateFactor(plan, outcome, at_pace_ns) : at_pace_ns;
}

double Pace::AtPaceNs(const Outcome& outcome) {
  const std::optional<double> share = outcome.TimeOver("lt_auto", outcome.LeadingClock());
  if (!share) return outcome.TimeNs();
  if (!rivals_ns_) rivals_ns_ = outcome.TimeNs() / *share;
  return *rivals_ns_ * *share;
}

}  // namespace gemmsmith
