// Workspace of the CTAs that split K: a counter a tile, then sums or slots (geometry.h). Zero before and after a
// launch.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

GEMMSMITH_DEVICE float* SplitSums(void* workspace, u32 tiles) {
  return reinterpret_cast<float*>(static_cast<char*>(workspace) + SplitCountersBytes(tiles));
}

}  // namespace gemmsmith
