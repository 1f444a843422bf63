#include "policy/prior.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

std::vector<float> LogPriorOf(const Forecast& forecast) {
  // Plans that are predicted to be illegal, or a thousand times as slow, are not ruled out.
  constexpr double kSlowest = 1000;
  const size_t plans = forecast.order().size();
  std::vector<double> times_ns(plans);
  for (size_t i = 0; i < plans; ++i) times_ns[i] = forecast.OptimisticTimeNs(i, kExplorationBonus);
  const double best_ns = plans == 0 ? 0 : *std::min_element(times_ns.begin(), times_ns.end());
  std::vector<float> log_prior(plans);
  if (!std::isfinite(best_ns)) return log_prior;
  for (size_t i = 0; i < plans; ++i)
    log_prior[i] = float(-kPriorStrength * std::log(std::min(times_ns[i] / best_ns, kSlowest)));
  return log_prior;
}

}  // namespace gemmsmith
