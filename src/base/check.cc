#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gemmsmith {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "%s:%d: internal error: %s: %.*s\n", file, line, condition, int(message.size()), message.data());
  std::abort();
}

}  // namespace gemmsmith
