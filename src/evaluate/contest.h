// The timing of an exchange: everyone who races, on every clock that is wanted, one race a clock.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "evaluate/baseline/baseline.h"
#include "evaluate/isolate/judge.h"
#include "evaluate/time/device_clock.h"
#include "evaluate/workshop.h"

namespace gemmsmith {

// Whether the clock times graphs, or single calls.
bool IsOfGraphs(Clock clock);

// Whoever is timed.
struct Racer {
  std::string name = "ours";
  int candidate = -1;        // its place in the list; -1: a rival
  Layout layout = kTn;       // a candidate's
  bool is_decisive = false;  // a rival that the early stop looks at
  bool is_hopeless = false;  // a candidate so slow that a screen need not know how slow
  double call_ns = 0;        // roughly
  PutCall call;              // through the ordinary host path
  // For the clocks of the device that it takes part in. kDeviceChained is raced together with kDevice; kEnergy replays
  // the graph of kDevice.
  std::map<Clock, const CallGraph*> graphs;
};

// Baselines as they race on all clocks, with their graphs for such batches.
std::vector<Racer> RacersOf(std::span<const Baseline* const> rivals, Batch batch);

// What times these, in turns and not settled; its entrants are the racers. Not for kDeviceChained, and kDeviceCold
// needs a sweep.
Result<std::unique_ptr<RoundClock>> MakeRoundClock(const Workshop& workshop, const ProblemMessage& problem,
                                                   std::span<const Racer> racers, Clock clock,
                                                   const PutCall& sweep = {});

// The test of the output of what was timed on this clock: "timed_output", "chained_output", "cold_output",
// "server_output".
std::string OutputTestOf(Clock clock);

struct ContestResult {
  std::vector<std::vector<Timing>> timings;          // by racer
  std::vector<std::vector<Comparison>> comparisons;  // by racer, as Race() gives them
  RunConditions conditions;
};

// The races of the problem's clocks, one after the other. `sweep` empties L2; it is needed for kDeviceCold only. A
// Status where the GPU or the machine failed, whoever's kernel it was.
Result<ContestResult> RunContest(const Workshop& workshop, const ProblemMessage& problem, std::span<const Racer> racers,
                                 const PutCall& sweep, const StepListener& on_step);

}  // namespace gemmsmith
