// Outcomes of races against AutoTuning, for tests.
#pragma once

#include <utility>

#include "campaign/fakes.h"

namespace gemmsmith {

// The outcome of a race against both AutoTunings, the faster of which takes 2 us.
inline Outcome RacedIn(double time_ns, double uncertainty = 0.01) {
  Outcome outcome = MeasuredIn(time_ns, Protocol::kShort);
  outcome.timings.push_back(outcome.timings[0]);
  outcome.timings[1].clock = Clock::kOffline;
  for (const Clock clock : {Clock::kDeviceCold, Clock::kOffline})
    for (const auto& [name, reference_ns] : {std::pair("lt_auto_nn", 2500.0), std::pair("lt_auto_tn", 2000.0)}) {
      const double ratio = reference_ns / time_ns;
      outcome.comparisons.push_back(
          {name, clock, {ratio, ratio, {ratio * (1 - uncertainty), ratio * (1 + uncertainty)}, 20}});
    }
  return outcome;
}

// The same race, but with repeated calls in the ring's place.
inline Outcome OfRepeatedCalls(Outcome outcome) {
  for (Timing& timing : outcome.timings)
    if (timing.clock == Clock::kDeviceCold) timing.clock = Clock::kDevice;
  for (Comparison& comparison : outcome.comparisons)
    if (comparison.clock == Clock::kDeviceCold) comparison.clock = Clock::kDevice;
  return outcome;
}

inline Outcome Wrong() {
  Outcome outcome;
  outcome.kind = OutcomeKind::kWrong;
  outcome.stage = "correctness";
  outcome.reason = "test binary: 3 of 9 elements are wrong";
  outcome.protocol = Protocol::kShort;
  return outcome;
}

}  // namespace gemmsmith
