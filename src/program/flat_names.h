// The vocabularies of flat kernels.
#pragma once

#include <string_view>

namespace gemmsmith {

// A name of the plain vocabulary (0) in another one; words that are no names of ours as they are.
std::string_view FlatName(std::string_view plain, int vocabulary);

}  // namespace gemmsmith
