// Snippets of a page: its sections, and its blocks of C++ and CUDA.
#pragma once

#include <vector>

#include "corpus/clean/page.h"
#include "corpus/snippet.h"

namespace gemmsmith {

// A section goes to the next heading of any level; one of more than 6 KiB becomes several. The instruction of a block
// is the paragraph above it, behind the headings.
std::vector<Snippet> CutPage(const Snippet& file, const std::vector<PagePart>& page);

}  // namespace gemmsmith
