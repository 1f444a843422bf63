// The problems of verbs that measure lists of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "problem/grids.h"

namespace gemmsmith {

// Of shapes, named sets and files: each product in its own layout, or in each of `layouts` where it names none. A note
// counts the problems that no kernel family serves; they are left out. InvalidArgument where a problem is no Gemm,
// NotFound where none is left.
Result<std::vector<Gemm>> LoadProblems(std::string_view words, std::span<const Layout> layouts, const GemmKind& kind);

}  // namespace gemmsmith
