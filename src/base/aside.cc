#include "base/aside.h"

#include <cstdio>

namespace gemmsmith {

void WriteAside(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace gemmsmith
