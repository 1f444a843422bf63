// Texts that the build puts into the program (cmake/EmbedHarness.cmake).
#pragma once

#include <string_view>

namespace gemmsmith {

std::string_view HarnessText();      // harness.cu
std::string_view HarnessIdentity();  // "gemmsmith 0.1.0 1f9c..": version and hash of the sources that measure

}  // namespace gemmsmith
