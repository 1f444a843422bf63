// Times of one problem's kernels as if the GPU had kept one pace. At the power cap it slows every contender of a race
// within some 40 ms, so kernels of different races are compared by their times over AutoTuning's (docs/lab/sweeps.md).
#pragma once

#include <optional>

#include "evaluate/outcome.h"
#include "program/plan.h"

namespace gemmsmith {

// Elements of A and B that a tile needs for each product, in units of 1/128: 1.5 for 128x256. nullopt where a CTA of the
// family shares no tile.
std::optional<double> BroughtIn(const Plan& plan);

// The settled share: what a long call takes in a window of its own over what it took in turns with others in a
// screening. At the power cap the clock follows the power of the running kernel, and tiles that bring in fewer bytes
// need less. 1 for 128x256 tiles; others differ by 9 % of what they bring in beyond these (docs/lab/sweeps.md). 1 for
// calls below 0.3 ms. Heats whose contenders were chosen by it are no ground to fit the 9 % on. Experience of other
// shapes keeps its screened times.
double SettledShare(const Plan& plan, double call_ns);
// The same for an outcome with such a call; 1 where its times are settled.
double SettledShare(const Plan& plan, const Outcome& outcome, double call_ns);

class Pace {
 public:
  // `settles`: settled races decide, so calls that took turns count with their settled share.
  explicit Pace(bool settles = false) : settles_(settles) {}
  // For a measured outcome: its time at the pace of the first one that raced against AutoTuning; its own time where it
  // did not.
  double TimeNs(const Plan& plan, const Outcome& outcome);

 private:
  double AtPaceNs(const Outcome& outcome);

  const bool settles_;
  std::optional<double> rivals_ns_;  // what AutoTuning takes at that pace
};

}  // namespace gemmsmith
