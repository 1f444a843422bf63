// The contrastive choice of CUDA-L1: variants of a problem that differ in speed, mostly good ones.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"

namespace gemmsmith {

// Parts the variants into buckets of equal width by score. `count` buckets are drawn without return, by a softmax over
// their mean scores, centred on the mean of all; each gives one variant. Fewer where there are fewer buckets. The
// variants by index, in the order in which they were drawn. `temperature` is in deviations of the means.
std::vector<size_t> ChooseContrasting(std::span<const double> scores, size_t count, double temperature, Random& random);

}  // namespace gemmsmith
