// Times of one problem's kernels as if the GPU had kept one pace. At its power cap it runs a kernel, and every rival
// beside it, up to 12 % slower some 40 ms after it was cool (512x2048x16384, H200: 53, then 60 us): kernels of different
// races are told apart by what they take beside AutoTuning. For calls of more than 20 us that order agrees better with
// the heat's; for shorter ones it makes no difference that could be told (docs/lab/sweeps.md).
#pragma once

#include <optional>

#include "evaluate/outcome.h"

namespace gemmsmith {

class Pace {
 public:
  // Of an outcome that is measured: at the pace of the first one that AutoTuning raced beside; its bare time where none
  // did.
  double TimeNs(const Outcome& outcome);

 private:
  std::optional<double> rivals_ns_;  // what AutoTuning takes at that pace
};

}  // namespace gemmsmith
