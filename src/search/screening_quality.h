// How well a screening told who would win the races behind it: its order of plans beside that of heats and finals, by
// what was screened and by what is made of it for long calls (pace.h).
#pragma once

#include <span>
#include <vector>

#include "archive/trial.h"

namespace gemmsmith {

// Agreement with the races of one protocol.
struct ScreeningAgreement {
  double order = 0;         // Spearman's, mean over races
  double first_behind = 0;  // the time of the plan that was screened fastest over that of the fastest, mean over races
};

struct ScreeningQuality {
  Protocol protocol = Protocol::kHeat;
  double from_ns = 0, to_ns = 0;  // calls of the race's fastest
  int races = 0;                  // with three screened plans or more
  double plans = 0;               // screened, of a race on average
  ScreeningAgreement screened, settled;
  // What the logarithm of speed loses from screening to race for each unit of BroughtIn(), within races; with its
  // standard error.
  double slope = 0, slope_error = 0;
};

// Of heats and finals of campaigns that had screened, beside AutoTuning where it raced; of calls of more than 0.3 ms
// those that were settled. A race's fastest is that of its screened plans: twins and standing kernels were not. Only
// lengths of calls of which there are races.
std::vector<ScreeningQuality> QualitiesOfScreening(std::span<const Trial> trials);

}  // namespace gemmsmith
