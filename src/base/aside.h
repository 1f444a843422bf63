// What is said beside the output.
#pragma once

#include <string_view>

namespace gemmsmith {

// A text to standard error as it is. Where nobody can read it nothing is lost but the text.
void WriteAside(std::string_view text);

}  // namespace gemmsmith
