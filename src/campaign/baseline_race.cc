#include "campaign/baseline_race.h"

#include <algorithm>

namespace gemmsmith {

namespace {

void AscribeToAutoTuning(Outcome& outcome) {
  for (Comparison& comparison : outcome.comparisons) {
    if (outcome.Find(comparison.contender, comparison.clock) != nullptr) continue;
    if (const Timing* auto_tuning = outcome.FastestBaseline("lt_auto", comparison.clock))
      comparison.contender = auto_tuning->contender;
  }
}

bool AreCompared(const Outcome& outcome, const Timing& one, const Timing& other) {
  return std::any_of(outcome.comparisons.begin(), outcome.comparisons.end(), [&](const Comparison& comparison) {
    return comparison.clock == one.clock &&
           ((comparison.baseline == one.contender && comparison.contender == other.contender) ||
            (comparison.baseline == other.contender && comparison.contender == one.contender));
  });
}

std::vector<double> Samples(const Timing& timing) { return {timing.samples_ns.begin(), timing.samples_ns.end()}; }

void CompareWith(const Timing& reference, Outcome& outcome) {
  for (const Timing& timing : outcome.timings) {
    if (timing.clock != reference.clock || timing.contender == reference.contender) continue;
    const bool paired = !timing.samples_ns.empty() && timing.samples_ns.size() == reference.samples_ns.size();
    if (!paired || AreCompared(outcome, timing, reference)) continue;
    outcome.comparisons.push_back({.baseline = reference.contender,
                                   .clock = reference.clock,
                                   .ratio = PairedRatio(Samples(reference), Samples(timing)),
                                   .contender = timing.contender});
  }
}

}  // namespace

void CompareWithAutoTuning(Outcome& outcome) {
  AscribeToAutoTuning(outcome);
  for (const Timing& timing : outcome.timings)
    if (timing.contender == "lt_auto_nn" || timing.contender == "lt_auto_tn") CompareWith(timing, outcome);
}

}  // namespace gemmsmith
