// Text on standard error.
#pragma once

#include <string_view>

namespace gemmsmith {

// Writes the text unchanged. A closed or failing standard error is ignored.
void WriteStderr(std::string_view text);

}  // namespace gemmsmith
