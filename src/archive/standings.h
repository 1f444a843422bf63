// How the best recorded kernel of each problem stands against cuBLASLt AutoTuning, by class of shapes.
#pragma once

#include <vector>

#include "archive/trial.h"
#include "problem/grids.h"

namespace gemmsmith {

// Over the problems of one class and layout that were measured. The speed-up of a problem is that of its fastest kernel
// (among trials of the short protocol where there are any) over the faster of AutoTuning's nn and tn, device clock,
// paired samples of one run.
struct Standing {
  ShapeClass shape_class = ShapeClass::kTiny;
  Layout layout;
  int problems = 0;
  double geometric_mean = 0;
  double minimum = 0;
  int wins = 0;    // the 95 % interval lies above 1
  int losses = 0;  // the 95 % interval lies below 1
};

// In the order of classes, nn before tn; f16 inputs only.
std::vector<Standing> StandingsOf(const std::vector<Trial>& trials);

}  // namespace gemmsmith
