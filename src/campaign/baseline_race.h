// A race of baselines alone, made comparable.
#pragma once

#include "evaluate/outcome.h"

namespace gemmsmith {

// Every contender on every clock against AutoTuning's nn and tn, from the samples of the same rounds. Comparisons that
// name ours, who was not in the race, are ascribed to the AutoTuning that stood in our place: the faster one.
void CompareWithAutoTuning(Outcome& outcome);

}  // namespace gemmsmith
