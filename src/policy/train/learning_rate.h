// How a learning rate goes over a run.
#pragma once

#include <cstdint>

namespace gemmsmith {

// From 0 to the peak over the first steps; from there a cosine leads to a tenth of it at the last one.
double WarmedUp(double peak, int64_t warm_up, int64_t steps, int64_t step);

}  // namespace gemmsmith
