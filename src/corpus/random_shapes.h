// Shapes for training texts, so that a model learns the arithmetic of sizes and not a list of them.
#pragma once

#include <vector>

#include "base/random.h"
#include "problem/held_out.h"

namespace gemmsmith {

inline constexpr int kLeastRandomSize = 16, kMostRandomSize = 16384;

// Sizes are multiples of 8, each power of two as likely as the next. No shape that is held out by its sizes, and none
// of the set "heldout" (grids.h): `off_grid` would hold out them all and does not count.
std::vector<Shape> RandomShapes(int count, const HeldOut& held_out, Random random);

}  // namespace gemmsmith
