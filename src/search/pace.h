// Times of one problem's kernels as if the GPU had kept one pace. At the power cap it slows every contender of a race
// within some 40 ms, so kernels of different races are compared by their times over AutoTuning's (docs/lab/sweeps.md).
#pragma once

#include <optional>

#include "outcome/outcome.h"

namespace gemmsmith {

class Pace {
 public:
  // For a timed outcome: its time at the pace of the first one that raced against AutoTuning; its own time where it did
  // not.
  double TimeNs(const Outcome& outcome);

 private:
  std::optional<double> rivals_ns_;  // what AutoTuning takes at that pace
};

}  // namespace gemmsmith
