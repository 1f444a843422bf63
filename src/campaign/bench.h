// Measures what published tables are made from: contenders beside the libraries on many shapes, one shape after the
// other. Searches nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign.h"

namespace gemmsmith {

struct BenchOptions {
  std::string name;                          // campaign under which the trials are stored: the same name resumes
  std::vector<Shape> shapes;                 // in this order
  std::vector<Layout> layouts = {kNn, kTn};  // of our contenders; the libraries run in theirs, whatever these are
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  // Who of ours is raced beside the baselines, in one race each list of plans and each source by itself. A shape with
  // nobody in any layout is a race of the baselines alone.
  std::function<Result<std::vector<Subject>>(const Gemm&)> contenders;
  BaselineSet baselines;
  Protocol protocol = Protocol::kShort;
  ClockSet clocks = {Clock::kDevice};
  uint64_t seed = 0;
};

struct BenchEvent {
  const Trial* trial = nullptr;  // just stored
  size_t done = 0;               // trials, those found included
  size_t total = 0;
  double seconds = 0;
};

struct BenchResult {
  size_t total = 0;                                     // trials
  size_t judged = 0;                                    // of this call
  size_t found = 0;                                     // in the archive
  std::vector<std::pair<OutcomeKind, int>> by_outcome;  // of this call
  std::vector<std::pair<Gemm, Status>> failures;        // problems that could not be judged
  std::string stop_reason;                              // empty: nothing is left but the failures
  double seconds = 0;
};

// Every race is in the archive before the next one starts. A problem that cannot be judged is passed over; two shapes
// in a row end the run with the Status of the second, with what was judged until then stored. InvalidArgument where
// trials of this name are of another device or lack a clock that is wanted. `compiler` and `objects`, which
// builds sources, may be null where no contender needs them.
Result<BenchResult> RunBench(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler,
                             ObjectCompiler* objects, Archive& archive, StopRule& stop,
                             const std::function<void(const BenchEvent&)>& on_event);

}  // namespace gemmsmith
