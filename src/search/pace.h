// Times of one problem's kernels as if the GPU had kept one pace. At its power cap it runs a kernel, and every rival
// beside it, up to 12 % slower some 40 ms after it was cool (512x2048x16384, H200: 53, then 60 us): kernels of
// different races are told apart by what they take beside AutoTuning. Over the 547 heats of data/h200/wide the order of
// the screening agreed with the heat's by a rank correlation of 0.71, 0.86 and 0.94 in bare times (20 to 100 us a call,
// 5 to 20, less), and of 0.76, 0.89 and 0.96 in these.
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
