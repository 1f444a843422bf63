// The problems of verbs that measure lists of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "problem/grids.h"

namespace gemmsmith {

// The words are shapes, named sets and files. Each product has its own layout, or each of `layouts` where it names
// none. Problems that no kernel family serves are left out; a note counts them. InvalidArgument where a problem is no
// Gemm, NotFound where none is left.
Result<std::vector<Gemm>> LoadProblems(std::string_view words, std::span<const Layout> layouts, const GemmKind& kind);

// Whether one of the words is a record of a program's products (problem/product_record.h).
Result<bool> NamesRecord(std::string_view words);

}  // namespace gemmsmith
