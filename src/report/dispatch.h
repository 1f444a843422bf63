// What a library gets that knows our kernels and AutoTuning's choice: of each product the one that was faster in one
// race, with the time that it took in a later one. So luck that won the first race is not counted.
#pragma once

#include <vector>

#include "report/selection.h"

namespace gemmsmith {

struct Dispatched {
  Gemm gemm;
  bool is_ours = false;
  // AutoTuning's time, same layout, over that of the one that was chosen, leading clock, in the later race.
  double ratio = 1;
  Interval interval = {1, 1};
};

struct Dispatch {
  std::vector<Dispatched> products;
  int without_later_race = 0;  // products of which the last campaign timed no plan of those before

  int ToOurs() const;
  int ClearLosses() const;  // the whole interval lies below 1
  double Geomean() const;   // of at least one product
  double Min() const;
};

// The products of the selection, in its protocol. The later race is that of the product's last campaign. Of the plans
// that it timed the one is chosen that was fastest beside AutoTuning in an earlier campaign, where its whole interval
// there lies above 1; else AutoTuning's choice, whose ratio is 1.
Dispatch DispatchOf(const std::vector<Trial>& trials, const Selection& selection);

}  // namespace gemmsmith
