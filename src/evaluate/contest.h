// The timing of an exchange: one race of all candidates and baselines on each requested clock.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "evaluate/baseline/baseline.h"
#include "evaluate/gpu_tools.h"
#include "evaluate/isolate/judge.h"
#include "evaluate/time/device_clock.h"

namespace gemmsmith {

// Whether the clock times graphs, or single calls.
bool IsOfGraphs(Clock clock);

// A candidate or a baseline as all clocks time it.
struct TimedCall {
  std::string name = "ours";
  int candidate = -1;  // its place in the list; -1: a baseline
  Layout layout = kTn;
  bool is_decisive = false;  // a baseline that the early stop looks at
  bool is_hopeless = false;  // a candidate far slower than the baselines: a screen need not time it exactly
  double call_ns = 0;        // roughly
  PutCall call;              // through the ordinary host path
  // For the clocks of the device that it takes part in. Chains are raced together with PlainOf() them; kEnergy replays
  // the graph of kDevice.
  std::map<Clock, const CallGraph*> graphs;
};

// Baselines as they race on all clocks, with their graphs for such batches.
std::vector<TimedCall> TimedCallsOf(std::span<const Baseline* const> baselines, Batch batch);

// The test of the output of what was timed on this clock: "timed_output", "chained_output", "cold_output" (of the ring
// and its chains), "server_output".
std::string OutputTestOf(Clock clock);

struct ContestResult {
  std::vector<std::vector<Timing>> timings;          // by call
  std::vector<std::vector<Comparison>> comparisons;  // by call, as Race() gives them
  // By call: what its first timed call did that was not right; empty where none was seen. Its times mean nothing then.
  std::vector<std::string> faults;
  RunConditions conditions;
};

// The races of the problem's clocks, one after the other. `ring` is needed for kDeviceCold only.
// Returns a Status if the GPU or the machine failed.
Result<ContestResult> RunContest(const GpuTools& tools, const ProblemMessage& problem,
                                 std::span<const TimedCall> timed_calls, Ring* ring, const StepListener& on_step);

}  // namespace gemmsmith
