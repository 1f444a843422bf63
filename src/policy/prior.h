// The prior over plans that a policy starts from: their predicted times. The policy's words correct it, so what it
// learns need not contain the analytic model.
#pragma once

#include <vector>

#include "search/forecast.h"

namespace gemmsmith {

// The log prior of all plans of the forecast's space, by index, for SpacePlanMask. A plan of twice the time is
// 2^kPriorStrength times less likely. An uncertain plan counts as kExplorationBonus standard deviations faster, which
// favours exploration.
inline constexpr double kPriorStrength = 60, kExplorationBonus = 0.5;
std::vector<float> LogPriorOf(const Forecast& forecast);

}  // namespace gemmsmith
