// The fields of a setting and of an outcome: VisitFields() names each once, with its number, its name and its place in
// memory. It hands them to a coder, which writes or reads one form: the bytes of outcome_bytes.cc, a segment's columns,
// JSON lines, CSV, the archive's rows.
#pragma once

#include "outcome/outcome.h"
#include "outcome/record_field.h"
#include "outcome/setting.h"

namespace gemmsmith {

// As far above the middle as `low` lies below it.
inline double Mirrored(double low, double middle) { return 2 * middle - low; }

// The base of coders. A coder hides the members that its form needs otherwise, and adds Text, Flag, Integer, Real,
// Choice, Limits, Samples, Presence, Optional and List.
template <class Coder>
class CoderBase {
 public:
  // The form has the order of its first version, with the protocol behind the verdict, and newer fields at the end.
  static constexpr bool kGrewAtItsEnd = false;
  // The form names its fields, so that a reader sees which ones are missing.
  static constexpr bool kNamesFields = false;
  // The form stores reals by their distance from an expected value.
  static constexpr bool kPredicts = false;

  // Whether the form has a field, which came with this version of the bytes.
  bool Has(int /*version*/, std::string_view /*name*/) const { return true; }
  // Whether the form has means and intervals of this trial.
  bool HasSpread() const { return true; }
  // Sets the precision of the reals that follow.
  void Precision(RecordField, Protocol) {}
  // The fields that only the archive and the worker's pipe have.
  void Unrecorded(Outcome&) {}
  // A real that lies near a value which a reader knows here.
  void RealNear(RecordField field, std::string_view name, double& value, double /*near*/) {
    self().Real(field, name, value);
  }
  // A median that lies near the one before it of the same contender on the same clock.
  void MedianNear(RecordField field, std::string_view name, double& value, const Timing& /*of*/) {
    self().Real(field, name, value);
  }
  // A text that is nearly always the usual one.
  void UsualText(RecordField field, std::string_view name, std::string& text, std::string_view /*usual*/) {
    self().Text(field, name, text);
  }
  // An interval around `middle`.
  void Bounds(RecordField low, std::string_view name, Interval& interval, double middle) {
    self().RealNear(low, name, interval.low, middle);
    self().RealNear(Next(low), name, interval.high, Mirrored(interval.low, middle));
  }
  // A part with fields of its own: `fields` takes the coder that they go to.
  void Object(std::string_view /*name*/, auto&& fields) { fields(self()); }

 private:
  Coder& self() { return static_cast<Coder&>(*this); }
};

void VisitFields(auto& coder, Setting& setting) {
  using enum RecordField;
  coder.Text(kDeviceKey, "device_key", setting.device_key);
  coder.Text(kDeviceName, "device_name", setting.device_name);
  coder.Text(kGpuUuid, "gpu_uuid", setting.gpu_uuid);
  coder.Text(kDriver, "driver", setting.driver);
  coder.Text(kToolchain, "toolchain", setting.toolchain);
  coder.Text(kLibraries, "libraries", setting.libraries);
  coder.Text(kHarness, "harness", setting.harness);
}

void VisitFields(auto& coder, CodeFacts& facts) {
  using enum RecordField;
  coder.Integer(kRegisters, "registers", facts.registers);
  coder.Integer(kLocalBytes, "local_bytes", facts.local_bytes);
  coder.Integer(kStaticSmemBytes, "static_smem_bytes", facts.static_smem_bytes);
  coder.Integer(kCodeBytes, "code_bytes", facts.code_bytes);
  coder.Integer(kInstructions, "instructions", facts.instructions);
  coder.Integer(kLocalMemoryInstructions, "local_memory_instructions", facts.local_memory_instructions);
  coder.Integer(kMmaF32, "mma_f32", facts.mma_f32);
  coder.Integer(kMmaF16, "mma_f16", facts.mma_f16);
  coder.Integer(kWgmmaF32, "wgmma_f32", facts.wgmma_f32);
  coder.Integer(kWgmmaF16, "wgmma_f16", facts.wgmma_f16);
}

void VisitFields(auto& coder, Verdict& verdict) {
  using enum RecordField;
  coder.Flag(kPassed, "passed", verdict.passed);
  coder.Text(kTest, "test", verdict.test);
  coder.Text(kExplanation, "explanation", verdict.explanation);
  coder.Real(kMaxAbsError, "max_abs_error", verdict.max_abs_error);
  coder.Real(kBaselineMaxAbsError, "baseline_max_abs_error", verdict.baseline_max_abs_error);
  coder.Real(kRelativeError, "relative_error", verdict.relative_error);
}

void VisitFields(auto& coder, Energy& energy) {
  using enum RecordField;
  coder.Real(kJoules, "joules", energy.joules);
  coder.Bounds(kJoulesLow, "interval_joules", energy.interval, energy.joules);
  coder.Real(kEnergyWatts, "watts", energy.watts);
  coder.Real(kEnergyClockMhz, "sm_clock_mhz", energy.sm_clock_mhz);
}

// A reader of bytes or columns knows by the clock whether there is such a field.
void VisitEnergy(auto& coder, Timing& timing) {
  if (!coder.kNamesFields && timing.clock != Clock::kEnergy) return;
  coder.Optional(RecordField::kEnergyGiven, "energy", timing.energy,
                 [](auto& inner, Energy& energy) { VisitFields(inner, energy); });
}

void VisitFields(auto& coder, Timing& timing) {
  using enum RecordField;
  coder.Text(kContender, "contender", timing.contender);
  coder.Choice(kTimingClock, "clock", timing.clock, kLastClock);
  coder.MedianNear(kMedianNs, "median_ns", timing.median_ns, timing);
  if (coder.HasSpread()) {
    coder.RealNear(kMeanNs, "mean_ns", timing.mean_ns, timing.median_ns);
    coder.Bounds(kIntervalLow, "interval_ns", timing.interval, timing.median_ns);
  }
  coder.Integer(kSampleCount, "sample_count", timing.sample_count);
  coder.Samples(kKeptSampleCount, "samples_ns", timing.samples_ns, timing.median_ns);
  if (!coder.kGrewAtItsEnd) VisitEnergy(coder, timing);
}

// The ratio of the medians, near which the median of ratios lies.
inline double ExpectedRatio(const Outcome& outcome, const Comparison& comparison) {
  const Timing* reference = outcome.Find(comparison.baseline, comparison.clock);
  const Timing* compared = outcome.Find(comparison.contender, comparison.clock);
  if (reference == nullptr || compared == nullptr || compared->median_ns == 0) return 1;
  return reference->median_ns / compared->median_ns;
}

void VisitContender(auto& coder, Comparison& comparison) {
  if (coder.Has(2, "contender"))
    coder.UsualText(RecordField::kComparisonContender, "contender", comparison.contender, Comparison().contender);
}

// The contender stands first where the ratio is expected from it, else at its end.
void VisitFields(auto& coder, Comparison& comparison, const Outcome& outcome) {
  using enum RecordField;
  RatioEstimate& ratio = comparison.ratio;
  coder.Text(kBaseline, "baseline", comparison.baseline);
  coder.Choice(kComparisonClock, "clock", comparison.clock, kLastClock);
  if (coder.kPredicts) VisitContender(coder, comparison);
  coder.RealNear(kRatioMedian, "median", ratio.median, coder.kPredicts ? ExpectedRatio(outcome, comparison) : 0);
  if (coder.HasSpread()) {
    coder.RealNear(kRatioMean, "mean", ratio.mean, ratio.median);
    coder.Bounds(kRatioLow, "interval", ratio.interval, ratio.median);
  }
  coder.Integer(kPairs, "pairs", ratio.pairs);
  if (!coder.kPredicts) VisitContender(coder, comparison);
}

// Older records know of the power cap alone, and say of no race that it was in steady state.
void VisitNewerFields(auto& coder, RunConditions& conditions, const Outcome& outcome) {
  using enum RecordField;
  if (coder.Has(3, "clock_limits")) coder.Limits(kNewerClockLimits, "clock_limits", conditions.limits);
  if (coder.Has(3, "is_settled"))
    coder.Flag(kInSteadyState, "is_settled", conditions.in_steady_state);
  else
    conditions.in_steady_state = LooksInSteadyState(outcome);
}

void VisitFields(auto& coder, RunConditions& conditions, const Outcome& outcome) {
  using enum RecordField;
  coder.Integer(kSmClockMhz, "sm_clock_mhz", conditions.sm_clock_mhz);
  coder.Real(kPowerWatts, "power_watts", conditions.power_watts);
  coder.Integer(kDiscardedBatches, "discarded_batches", conditions.discarded_batches);
  bool is_capped = conditions.limits.Has(ClockLimit::kPowerCap);
  coder.Flag(kPowerCapped, "power_capped", is_capped);
  if (is_capped) conditions.limits.Add(ClockLimit::kPowerCap);
  if (!coder.kGrewAtItsEnd) VisitNewerFields(coder, conditions, outcome);
}

void VisitFields(auto& coder, Counters& counters) {
  using enum RecordField;
  coder.Text(kCounterObserver, "observer", counters.observer);
  coder.Text(kCounterLacks, "lacks", counters.lacks);
  uint64_t present = counters.PresentBits();
  coder.Presence(kCountersPresent, present, CounterDefinitions());
  counters.MarkPresent(present);
  for (const CounterDefinition& definition : CounterDefinitions())
    if (std::optional<double>& value = counters[definition.counter]) coder.Real(kCounterValue, definition.name, *value);
}

void VisitProtocol(auto& coder, Protocol& protocol) {
  using enum RecordField;
  coder.Choice(kProtocol, "protocol", protocol, kLastProtocol);
  coder.Precision(kSignificantBits, protocol);
}

void VisitFields(auto& coder, Outcome& outcome) {
  using enum RecordField;
  coder.Choice(kKind, "kind", outcome.kind, kLastOutcomeKind);
  coder.Text(kStage, "stage", outcome.stage);
  coder.Text(kReason, "reason", outcome.reason);
  if (!coder.kGrewAtItsEnd) VisitProtocol(coder, outcome.protocol);
  coder.Object("facts", [&](auto& inner) { VisitFields(inner, outcome.facts); });
  coder.Object("verdict", [&](auto& inner) { VisitFields(inner, outcome.verdict); });
  if (coder.kGrewAtItsEnd) VisitProtocol(coder, outcome.protocol);
  coder.List(kTimingCount, "timings", outcome.timings, [](auto& inner, Timing& timing) { VisitFields(inner, timing); });
  coder.List(kComparisonCount, "comparisons", outcome.comparisons,
             [&](auto& inner, Comparison& comparison) { VisitFields(inner, comparison, outcome); });
  coder.Object("conditions", [&](auto& inner) { VisitFields(inner, outcome.conditions, outcome); });
  coder.List(kBaselineAlgorithmCount, "baseline_algorithms", outcome.baseline_algorithms,
             [](auto& inner, std::pair<std::string, std::string>& algorithm) {
               inner.Text(kAlgorithmBaseline, "baseline", algorithm.first);
               inner.Text(kBaselineAlgorithm, "algorithm", algorithm.second);
             });
  coder.Real(kCompileSeconds, "compile_seconds", outcome.compile_seconds);
  coder.Real(kEvaluateSeconds, "evaluate_seconds", outcome.evaluate_seconds);
  coder.Unrecorded(outcome);
  if (coder.Has(2, "counters"))
    coder.Optional(kCountersGiven, "counters", outcome.counters,
                   [](auto& inner, Counters& counters) { VisitFields(inner, counters); });
  if (coder.kGrewAtItsEnd) {
    VisitNewerFields(coder, outcome.conditions, outcome);
    if (coder.Has(4, "energy"))
      for (Timing& timing : outcome.timings) VisitEnergy(coder, timing);
  }
  if (coder.Has(5, "recipe")) coder.UsualText(kRecipe, "recipe", outcome.recipe, "");
}

}  // namespace gemmsmith
