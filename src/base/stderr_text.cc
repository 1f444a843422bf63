#include "base/stderr_text.h"

#include <cstdio>

namespace gemmsmith {

void WriteStderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace gemmsmith
