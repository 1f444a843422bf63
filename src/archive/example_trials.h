// Trials for tests: legal words, random numbers, every kind of outcome. The same number gives the same trial.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "base/random.h"
#include "program/family.h"

namespace gemmsmith {

// The plan with this number, counting through the values of every axis. Most are illegal on every device.
inline Plan ExamplePlan(int number) {
  Plan plan = DefaultPlan(FamilyId::kDirect);
  const Family& family = GetFamily(FamilyId::kDirect);
  uint64_t rest = uint64_t(number);
  for (const Axis& axis : family.axes) {
    plan.Set(axis.name, axis.values[rest % axis.values.size()]);
    rest /= axis.values.size();
  }
  return plan;
}

inline Gemm ExampleGemm(int number) {
  return {.shape = {64 << (number % 3), 32 << (number / 3 % 4), 128 + number}, .kind = {number % 2 == 0 ? kTn : kNn}};
}

inline Timing ExampleTiming(std::string contender, Clock clock, double median_ns, Random& random) {
  Timing timing{.contender = std::move(contender), .clock = clock};
  for (int i = 0; i < 20; ++i) timing.samples_ns.push_back(float(median_ns * (1 + 0.01 * random.Normal())));
  const std::vector<double> samples(timing.samples_ns.begin(), timing.samples_ns.end());
  timing.median_ns = Median(samples);
  timing.mean_ns = Mean(samples);
  timing.interval = MedianInterval(samples);
  timing.sample_count = int(samples.size());
  return timing;
}

// A plan that an H200 measured on the ring in the short protocol, tn, on 2026-11-21.
inline Trial ExampleTimed(const Plan& plan, const Shape& shape, double time_ns) {
  Trial trial{.gemm = {.shape = shape, .kind = {.layout = kTn}}, .subject = plan};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = Protocol::kShort;
  trial.outcome.timings = {{.contender = "ours", .clock = Clock::kDeviceCold, .median_ns = time_ns}};
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = 1'795'219'200'000;
  return trial;
}

// One in four is absent.
inline Counters ExampleCounters(int number) {
  Random random = Random(uint64_t(number)).Fork("counters");
  Counters counters;
  counters.observer = number % 2 == 0 ? "cupti" : "ncu";
  for (size_t i = 0; i < kCounterCount; ++i)
    if (random.Below(4) > 0) counters[Counter(i)] = std::exp(3 * random.Normal());
  counters.lacks = counters.PresentBits() + 1 == uint64_t{1} << kCounterCount ? "" : "this chip lacks \"some\"";
  return counters;
}

inline Timing ExampleEnergy(std::string contender, double median_ns, Random& random) {
  Timing timing = ExampleTiming(std::move(contender), Clock::kEnergy, median_ns, random);
  const double watts = 600 + 10 * random.Uniform(), joules = watts * timing.median_ns / 1e9;
  timing.energy = Energy{joules, {0.99 * joules, 1.01 * joules}, watts, 1700 + 100 * random.Uniform()};
  return timing;
}

inline void AddExampleMeasurements(Outcome& outcome, Random& random) {
  const double ours_ns = std::exp(8 + random.Normal());
  outcome.stage = "timing";
  outcome.verdict = {.passed = true,
                     .max_abs_error = 0.01 * random.Uniform(),
                     .baseline_max_abs_error = 0.01,
                     .relative_error = 1e-4 * random.Uniform()};
  outcome.timings.push_back(ExampleTiming("ours", Clock::kDevice, ours_ns, random));
  const auto samples = [](const Timing& timing) {
    return std::vector<double>(timing.samples_ns.begin(), timing.samples_ns.end());
  };
  for (const char* baseline :
       {"lt_auto_nn", "lt_auto_tn", "lt_heuristic_nn", "lt_heuristic_tn", "cublas_nn", "cublas_tn"}) {
    outcome.timings.push_back(ExampleTiming(baseline, Clock::kDevice, ours_ns * (1 + random.Uniform()), random));
    outcome.comparisons.push_back(
        {baseline, Clock::kDevice, PairedRatio(samples(outcome.timings.back()), samples(outcome.timings[0]))});
  }
  outcome.baseline_algorithms = {{"lt_auto_tn", "id66, best of 8"}, {"cublas_tn", "default"}};
  outcome.conditions = {.sm_clock_mhz = 1980, .power_watts = 300 + 10 * random.Uniform()};
  for (size_t i = 0; i < kClockLimitCount; ++i)
    if (random.Below(4) == 0) outcome.conditions.limits.Add(ClockLimit(i));
  outcome.conditions.in_steady_state = random.Below(8) == 0;
  if (outcome.conditions.in_steady_state)
    for (const char* contender : {"ours", "lt_auto_tn"})
      outcome.timings.push_back(ExampleEnergy(contender, ours_ns, random));
}

// Two of three are measured; the others fail in every way there is.
inline Trial ExampleTrial(int number) {
  Random random = Random(1).Fork(fmt::format("trial {}", number));
  Trial trial;
  trial.gemm = ExampleGemm(number % 60);
  trial.subject = ExamplePlan(number / 60);
  trial.campaign = "example";
  trial.seed = random.Next();
  trial.unix_ms = 1'770'000'000'000 + 137 * int64_t(number);
  trial.setting = {"h200",
                   "NVIDIA H200",
                   "GPU-0123",
                   "580.1 (CUDA 13.0)",
                   "nvrtc 13.0",
                   "cublas 13.0.2",
                   number < 50 ? "0.1.0 aa" : "0.1.0 bb"};
  Outcome& outcome = trial.outcome;
  outcome.facts = {.registers = 32 + int(random.Below(200)),
                   .code_bytes = 128 * int(random.Below(200)),
                   .instructions = int(random.Below(5000)),
                   .mma_f32 = int(random.Below(64))};
  outcome.compile_seconds = 0.2 * random.Uniform();
  outcome.evaluate_seconds = 0.01 * random.Uniform();
  if (number % 5 == 1) outcome.counters = ExampleCounters(number);
  outcome.kind = random.Below(3) > 0 ? OutcomeKind::kMeasured : OutcomeKind(random.Below(7));
  if (outcome.kind == OutcomeKind::kMeasured) {
    AddExampleMeasurements(outcome, random);
  } else {
    outcome.stage = "check";
    outcome.reason = fmt::format("\"tile_m\" {} is too large,\nis it?", random.Below(10));
    outcome.verdict.explanation = fmt::format("element {}", random.Below(1000));
  }
  return trial;
}

// For failed expectations.
inline void PrintTo(const Trial& trial, std::ostream* out) {
  *out << Print(trial.gemm) << " / " << Print(trial.subject) << " / " << Name(trial.outcome.kind);
}

inline std::vector<Trial> ExampleTrials(int count) {
  std::vector<Trial> trials;
  for (int number = 0; number < count; ++number) trials.push_back(ExampleTrial(number));
  return trials;
}

}  // namespace gemmsmith
