// IEEE half precision as the files of weights hold it.
#pragma once

#include <cstdint>

namespace gemmsmith {

float HalfToFloat(uint16_t half);
// To nearest, ties to even; what is too large becomes infinite.
uint16_t FloatToHalf(float value);

}  // namespace gemmsmith
