// Measures candidates against the libraries on many shapes, for published tables. Searches nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/measured_list.h"

namespace gemmsmith {

struct BenchOptions {
  std::string name;  // campaign of the trials: the same name resumes
  // In this order; the layouts of a shape stand next to each other. They are of our candidates: the libraries run in
  // nn and in tn.
  std::vector<Gemm> problems;  // at least one
  // The candidates of a problem, plans and sources, which meet in one race against the baselines. A shape without
  // candidates in any layout is a race of the baselines alone.
  std::function<Result<std::vector<Subject>>(const Gemm&)> candidates;
  BaselineSet baselines;
  Protocol protocol = Protocol::kShort;
  ClockSet clocks = {Clock::kDeviceCold};
  uint64_t seed = 0;
};

// Every race is in the archive before the next one starts. A problem that cannot be judged is passed over; two shapes
// in a row end the run with a Status, with everything before them stored. InvalidArgument where trials of this name are
// of another device or lack a clock that is wanted. `compiler` and `source_compiler`, which builds sources, may be null
// where no candidate needs them.
Result<MeasuredList> RunBench(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler,
                              SourceCompiler* source_compiler, Archive& archive, StopRule& stop,
                              const OnMeasured& on_event);

}  // namespace gemmsmith
