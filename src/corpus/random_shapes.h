// Shapes for training texts, so that a model learns the arithmetic of sizes and not a list of them.
#pragma once

#include <vector>

#include "base/random.h"
#include "problem/held_out.h"

namespace gemmsmith {

inline constexpr int kMostRandomSize = 16384;

// Every power of two is as likely as the next. Sizes of half of the shapes are multiples of 64 or of 8; sizes of the
// others may also be any number. No shape that is held out by its sizes, and none of the set "heldout" (grids.h):
// `off_grid` would hold out them all and does not count.
std::vector<Shape> RandomShapes(int count, const HeldOut& held_out, Random random);

}  // namespace gemmsmith
