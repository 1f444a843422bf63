// How well screenings and heats told who would win the races behind them: their order of plans beside that of these, by
// what was timed and by what is made of it for long calls that took turns (pace.h).
#pragma once

#include <span>
#include <vector>

#include "archive/trial.h"

namespace gemmsmith {

// Agreement with the races of one protocol.
struct ScreeningAgreement {
  // Means over races: Spearman's; the time of the plan that was said to be fastest over that of the fastest.
  double order = 0, first_behind = 0;
};

struct ScreeningQuality {
  Protocol told_by = Protocol::kScreen, race = Protocol::kHeat;
  double from_ns = 0, to_ns = 0;  // calls of the race's fastest
  int races = 0;                  // with three such plans or more
  double plans = 0;               // that were told of, of a race on average
  ScreeningAgreement as_timed, settled;
  // What the logarithm of speed loses until the race for each unit of BroughtIn(), within races; with its standard
  // error.
  double slope = 0, slope_error = 0;
};

// Of heats and finals of campaigns that had screened, and of finals of those that had heats, beside AutoTuning where it
// raced; of calls of more than 0.3 ms those races that were settled. A race's fastest is that of the plans that were
// told of: twins and standing kernels were not screened. Only lengths of calls of which there are races.
std::vector<ScreeningQuality> QualitiesOfScreening(std::span<const Trial> trials);

}  // namespace gemmsmith
