// An outcome for tests of formats: every field is set, and no two numbers are alike.
#pragma once

#include "outcome/outcome.h"

namespace gemmsmith {

inline Outcome FullOutcome() {
  Outcome outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.stage = "timing";
  outcome.reason = "a \"reason\", in words";
  outcome.facts = {40, 8, 1024, 4096, 700, 3, 64, 16, 32, 48};
  outcome.verdict = {true, "relative", "element 7", 0.5, 0.75, 0.0625, {{"binary", true, 0.25, 0.375, 1.5}}};
  outcome.protocol = Protocol::kShort;
  outcome.timings = {{"ours", Clock::kDevice, 2048, 2052, {2040, 2064}, 3, {2040, 2048, 2064}},
                     {"lt_auto_tn", Clock::kDevice, 3072, 3080, {3064, 3088}, 5},
                     {"ours", Clock::kEnergy, 2176, 2184, {2168, 2192}, 4}};
  outcome.timings[2].energy = Energy{0.875, {0.8125, 0.9375}, 640, 1755};
  outcome.comparisons = {{"lt_auto_tn", Clock::kDevice, {1.5, 1.515625, {1.4375, 1.5625}, 9}},
                         {"lt_auto_tn", Clock::kDevice, {1.25, 1.28125, {1.125, 1.375}, 7}, "cublas_tn"}};
  outcome.conditions = {1980, 512.5, 2, {ClockLimit::kPowerCap, ClockLimit::kSyncBoost}, true};
  outcome.baseline_algorithms = {{"lt_auto_tn", "id66, best of 8"}};
  outcome.compile_seconds = 0.125;
  outcome.evaluate_seconds = 6.5;
  outcome.counters.emplace().observer = "cupti";
  outcome.counters->lacks = "most of them";
  (*outcome.counters)[Counter::kTensorPipe] = 87.5;
  (*outcome.counters)[Counter::kStallWait] = 0.4375;
  outcome.recipe = "kernel _Z4gemm";
  return outcome;
}

}  // namespace gemmsmith
