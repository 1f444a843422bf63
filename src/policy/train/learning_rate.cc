#include "policy/train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gemmsmith {

double WarmedUp(double peak, int64_t warm_up, int64_t steps, int64_t step) {
  constexpr double kLast = 0.1;
  if (step <= warm_up) return peak * double(step) / double(warm_up);
  const double way = double(step - warm_up) / double(std::max<int64_t>(1, steps - warm_up));
  return peak * (kLast + (1 - kLast) * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, way))));
}

}  // namespace gemmsmith
