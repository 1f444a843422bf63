// Which field of a trial stands in which column: said once, for ColumnEncoder and ColumnDecoder.
#pragma once

#include "archive/columns.h"
#include "archive/trial.h"

namespace gemmsmith {

inline void SettingFields(auto& coder, Setting& setting) {
  coder.Text(Column::kDeviceKey, setting.device_key);
  coder.Text(Column::kDeviceName, setting.device_name);
  coder.Text(Column::kGpuUuid, setting.gpu_uuid);
  coder.Text(Column::kDriver, setting.driver);
  coder.Text(Column::kToolchain, setting.toolchain);
  coder.Text(Column::kLibraries, setting.libraries);
  coder.Text(Column::kHarness, setting.harness);
}

inline void FactsFields(auto& coder, CodeFacts& facts) {
  coder.Integer(Column::kRegisters, facts.registers);
  coder.Integer(Column::kLocalBytes, facts.local_bytes);
  coder.Integer(Column::kStaticSmemBytes, facts.static_smem_bytes);
  coder.Integer(Column::kCodeBytes, facts.code_bytes);
  coder.Integer(Column::kInstructions, facts.instructions);
  coder.Integer(Column::kLocalMemoryInstructions, facts.local_memory_instructions);
  coder.Integer(Column::kMmaF32, facts.mma_f32);
  coder.Integer(Column::kMmaF16, facts.mma_f16);
  coder.Integer(Column::kWgmmaF32, facts.wgmma_f32);
  coder.Integer(Column::kWgmmaF16, facts.wgmma_f16);
}

inline void VerdictFields(auto& coder, Verdict& verdict) {
  coder.Flag(Column::kPassed, verdict.passed);
  coder.Text(Column::kTest, verdict.test);
  coder.Text(Column::kExplanation, verdict.explanation);
  coder.Real(Column::kMaxAbsError, verdict.max_abs_error);
  coder.Real(Column::kBaselineMaxAbsError, verdict.baseline_max_abs_error);
  coder.Real(Column::kRelativeError, verdict.relative_error);
}

// As far above the middle as `low` lies below it.
inline double Mirrored(double low, double middle) { return 2 * middle - low; }

inline void EnergyFields(auto& coder, Energy& energy) {
  coder.Real(Column::kJoules, energy.joules);
  coder.RealNear(Column::kJoulesLow, energy.interval.low, energy.joules);
  coder.RealNear(Column::kJoulesHigh, energy.interval.high, Mirrored(energy.interval.low, energy.joules));
  coder.Real(Column::kEnergyWatts, energy.watts);
  coder.Real(Column::kEnergyClockMhz, energy.sm_clock_mhz);
}

inline void TimingFields(auto& coder, Timing& timing) {
  coder.Text(Column::kContender, timing.contender);
  coder.Choice(Column::kTimingClock, timing.clock, kLastClock);
  double& last_median = coder.last_medians().Of(timing.contender, timing.clock);
  coder.RealNear(Column::kMedianNs, timing.median_ns, last_median);
  last_median = timing.median_ns;
  if (coder.RecordsSpread()) {
    coder.RealNear(Column::kMeanNs, timing.mean_ns, timing.median_ns);
    coder.RealNear(Column::kIntervalLow, timing.interval.low, timing.median_ns);
    coder.RealNear(Column::kIntervalHigh, timing.interval.high, Mirrored(timing.interval.low, timing.median_ns));
  }
  coder.Integer(Column::kSampleCount, timing.sample_count);
  coder.List(Column::kKeptSampleCount, Column::kSampleNs, timing.samples_ns,
             [&](float& sample) { coder.SampleNear(Column::kSampleNs, sample, timing.median_ns); });
  if (timing.clock == Clock::kEnergy)
    coder.Optional(Column::kEnergyGiven, timing.energy, [&](Energy& energy) { EnergyFields(coder, energy); });
}

// A ratio of medians lies near the median of ratios, so little of it has to be written.
inline double ExpectedRatio(const Outcome& outcome, const Comparison& comparison) {
  const Timing* reference = outcome.Find(comparison.baseline, comparison.clock);
  const Timing* compared = outcome.Find(comparison.contender, comparison.clock);
  if (reference == nullptr || compared == nullptr || compared->median_ns == 0) return 1;
  return reference->median_ns / compared->median_ns;
}

inline void ComparisonFields(auto& coder, const Outcome& outcome, Comparison& comparison) {
  RatioEstimate& ratio = comparison.ratio;
  coder.Text(Column::kBaseline, comparison.baseline);
  coder.Choice(Column::kComparisonClock, comparison.clock, kLastClock);
  coder.Text(Column::kComparisonContender, comparison.contender);
  coder.RealNear(Column::kRatioMedian, ratio.median, ExpectedRatio(outcome, comparison));
  if (coder.RecordsSpread()) {
    coder.RealNear(Column::kRatioMean, ratio.mean, ratio.median);
    coder.RealNear(Column::kRatioLow, ratio.interval.low, ratio.median);
    coder.RealNear(Column::kRatioHigh, ratio.interval.high, Mirrored(ratio.interval.low, ratio.median));
  }
  coder.Integer(Column::kPairs, ratio.pairs);
}

// The values stand one behind the other, those that are there in their order.
inline void CountersFields(auto& coder, Counters& counters) {
  coder.Text(Column::kCounterObserver, counters.observer);
  coder.Text(Column::kCounterLacks, counters.lacks);
  uint64_t present = counters.PresentBits();
  coder.Bits(Column::kCountersPresent, present, kCounterCount);
  counters.MarkPresent(present);
  for (const CounterDefinition& definition : CounterDefinitions())
    if (std::optional<double>& value = counters[definition.counter]) coder.Real(Column::kCounterValue, *value);
}

inline void ConditionsFields(auto& coder, RunConditions& conditions) {
  coder.Integer(Column::kSmClockMhz, conditions.sm_clock_mhz);
  coder.Real(Column::kPowerWatts, conditions.power_watts);
  coder.Integer(Column::kDiscardedBatches, conditions.discarded_batches);
  bool is_capped = conditions.limits.Has(ClockLimit::kPowerCap);
  coder.Flag(Column::kPowerCapped, is_capped);
  if (is_capped) conditions.limits.Add(ClockLimit::kPowerCap);
  uint64_t newer = conditions.limits.NewerBits();
  coder.Bits(Column::kNewerClockLimits, newer, ClockLimits::kNewerCount);
  conditions.limits.AddNewerBits(newer);
  coder.Flag(Column::kSettled, conditions.is_settled);
}

inline void OutcomeFields(auto& coder, Outcome& outcome) {
  coder.Choice(Column::kKind, outcome.kind, kLastOutcomeKind);
  coder.Text(Column::kStage, outcome.stage);
  coder.Text(Column::kReason, outcome.reason);
  coder.Choice(Column::kProtocol, outcome.protocol, kLastProtocol);
  coder.Precision(Column::kSignificantBits, outcome.protocol);
  FactsFields(coder, outcome.facts);
  VerdictFields(coder, outcome.verdict);
  coder.List(Column::kTimingCount, Column::kContender, outcome.timings,
             [&](Timing& timing) { TimingFields(coder, timing); });
  coder.List(Column::kComparisonCount, Column::kBaseline, outcome.comparisons,
             [&](Comparison& comparison) { ComparisonFields(coder, outcome, comparison); });
  ConditionsFields(coder, outcome.conditions);
  coder.List(Column::kBaselineAlgorithmCount, Column::kAlgorithmBaseline, outcome.baseline_algorithms,
             [&](std::pair<std::string, std::string>& algorithm) {
               coder.Text(Column::kAlgorithmBaseline, algorithm.first);
               coder.Text(Column::kBaselineAlgorithm, algorithm.second);
             });
  coder.Real(Column::kCompileSeconds, outcome.compile_seconds);
  coder.Real(Column::kEvaluateSeconds, outcome.evaluate_seconds);
  coder.Optional(Column::kCountersGiven, outcome.counters,
                 [&](Counters& counters) { CountersFields(coder, counters); });
}

// Problem and subject as their canonical texts.
inline void TrialFields(auto& coder, Trial& trial, std::string& problem, std::string& subject) {
  coder.Text(Column::kProblem, problem);
  coder.Text(Column::kSubject, subject);
  coder.Text(Column::kCampaign, trial.campaign);
  coder.Integer(Column::kSeed, trial.seed);
  coder.Integer(Column::kUnixMs, trial.unix_ms);
  SettingFields(coder, trial.setting);
  OutcomeFields(coder, trial.outcome);
}

}  // namespace gemmsmith
