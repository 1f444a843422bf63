#include "base/descriptors.h"

#include <unistd.h>

#include <cerrno>

namespace gemmsmith {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(size_t(written));
  }
  return true;
}

ssize_t ReadUpTo(int fd, size_t count, std::string& bytes) {
  bytes.resize(count);
  size_t have = 0;
  while (have < count) {
    const ssize_t got = ::read(fd, bytes.data() + have, count - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += size_t(got);
  }
  return ssize_t(have);
}

}  // namespace gemmsmith
