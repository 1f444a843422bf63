// Snippets of a file of code: each kernel with its helpers, then functions and types that are no kernel's helpers or
// say what they are for.
#pragma once

#include <vector>

#include "corpus/snippet.h"

namespace gemmsmith {

// Empty for a file that has nothing to do with CUDA. A snippet has 4 lines or more and at most 24 KiB; helpers join
// while there is room. A type that is larger, or has no comment, is cut into its functions that have one. Where the
// comment above it says what it does, that is its instruction, and no part of the code.
std::vector<Snippet> CutCode(const Snippet& file);

}  // namespace gemmsmith
