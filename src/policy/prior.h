// What a policy believes of plans before it is asked: what is predicted of them. Its words say how much better or worse
// they are than that, so what it has learned need not hold the analytic model as well.
#pragma once

#include <vector>

#include "search/forecast.h"

namespace gemmsmith {

// Of all plans of the forecast's space, by index, for SpacePlanMask: twice as long is believed 2^kFaith times less. A
// plan of which little is known is forecast so many deviations below the mean, as something that is worth a try.
inline constexpr double kFaith = 60, kHope = 0.5;
std::vector<float> BeliefsOf(const Forecast& forecast);

}  // namespace gemmsmith
