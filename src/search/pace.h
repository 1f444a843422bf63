// Times of one problem's kernels as if the GPU had kept one pace. At its power cap it runs a kernel, and every rival
// beside it, up to 12 % slower some 40 ms after it was cool (512x2048x16384, H200: 53, then 60 us): kernels of
// different races are told apart by what they take beside AutoTuning. For calls of more than 20 us that order agrees
// better with the heat's; for shorter ones it makes no difference that could be told (docs/lab/sweeps.md).
#pragma once

#include <optional>

#include "evaluate/outcome.h"
#include "program/plan.h"

namespace gemmsmith {

// Elements of A and B that a tile needs for each product, in units of 1/128: 1.5 of 128x256. Nothing where the family
// has no tiles that are shared by a CTA.
std::optional<double> BroughtIn(const Plan& plan);

// What a long call takes when it has the GPU to itself, over what it took in turns with others, in a screening (or a
// heat of before the end of November 2026): at the power cap the clock follows the power of whoever runs, and kernels
// that bring fewer bytes into a multiprocessor need less. Of 128x256 tiles 1, of others by 9 % of what they bring
// beside these; 1 where calls are shorter than 0.3 ms. `gemmsmith records screening` says how much better such times
// tell who wins (docs/lab/sweeps.md); records of heats whose contenders were chosen by them are no ground to fit the
// 9 % on. What a policy is shown of other shapes is left as it was screened.
double SettledShare(const Plan& plan, double call_ns);
// The same of an outcome whose call took so long; 1 where it is settled already.
double SettledShare(const Plan& plan, const Outcome& outcome, double call_ns);

class Pace {
 public:
  // `settles`: the fastest is the one that settled races will find, so calls that took turns count with their settled
  // share.
  explicit Pace(bool settles = false) : settles_(settles) {}
  // Of a plan whose outcome is measured: at the pace of the first one that AutoTuning raced beside; its bare time where
  // none did.
  double TimeNs(const Plan& plan, const Outcome& outcome);

 private:
  double AtPaceNs(const Outcome& outcome);

  const bool settles_;
  std::optional<double> rivals_ns_;  // what AutoTuning takes at that pace
};

}  // namespace gemmsmith
