// Shapes that training keeps out, so that what was learned can be judged on them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "problem/gemm.h"

namespace gemmsmith {

struct HeldOut {
  std::set<int> sizes;    // every shape with such an m, n or k
  bool off_grid = false;  // every shape that is not one of paper1000
  bool operator==(const HeldOut&) const = default;
};

// The split that this project's policies are trained and compared with. The set "heldout" (grids.h) is made of it.
HeldOut StandardHeldOut();
bool IsHeldOut(const Shape& shape, const HeldOut& held_out);

// "512,8192,offgrid": sizes, and "offgrid"; "standard" stands for StandardHeldOut(). Printing never says "standard".
Result<HeldOut> ParseHeldOut(std::string_view text);
std::string Print(const HeldOut& held_out);

}  // namespace gemmsmith
