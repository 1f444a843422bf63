#include "policy/prior.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

std::vector<float> BeliefsOf(const Forecast& forecast) {
  // What is predicted to be illegal, or a thousand times as slow, is not ruled out.
  constexpr double kSlowest = 1000;
  const size_t plans = forecast.order().size();
  std::vector<double> times_ns(plans);
  for (size_t i = 0; i < plans; ++i) times_ns[i] = forecast.HopefulTimeNs(i, kHope);
  const double best_ns = plans == 0 ? 0 : *std::min_element(times_ns.begin(), times_ns.end());
  std::vector<float> beliefs(plans);
  if (!std::isfinite(best_ns)) return beliefs;
  for (size_t i = 0; i < plans; ++i) beliefs[i] = float(-kFaith * std::log(std::min(times_ns[i] / best_ns, kSlowest)));
  return beliefs;
}

}  // namespace gemmsmith
