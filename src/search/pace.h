// Times of one problem's kernels as if the GPU had kept one pace. At the power cap it slows every contender of a race
// within some 40 ms, so kernels of different races are compared by their times over AutoTuning's (docs/lab/sweeps.md).
#pragma once

#include <optional>

#include "outcome/outcome.h"
#include "program/plan.h"

namespace gemmsmith {

// The steady-state factor: a long call's time in a window of its own over its time in alternation with others in a
// screening. At the power cap the clock follows the power of the running kernel, and tiles with less operand traffic
// draw less. 1 for 128x256 tiles and for calls below 0.3 ms; other tiles differ by 9 % of their extra traffic
// (docs/lab/sweeps.md).
double SteadyStateFactor(const Plan& plan, double call_ns);
// The same for an outcome with such a call; 1 where its times are in steady state, or of the ring, which has no
// windows.
double SteadyStateFactor(const Plan& plan, const Outcome& outcome, double call_ns);

class Pace {
 public:
  // `steady_state`: settled races decide, so calls that took turns count with their settled share.
  explicit Pace(bool steady_state = false) : steady_state_(steady_state) {}
  // For a measured outcome: its time at the pace of the first one that raced against AutoTuning; its own time where it
  // did not.
  double TimeNs(const Plan& plan, const Outcome& outcome);

 private:
  double AtPaceNs(const Outcome& outcome);

  const bool steady_state_;
  std::optional<double> rivals_ns_;  // what AutoTuning takes at that pace
};

}  // namespace gemmsmith
