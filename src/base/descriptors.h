// Blocking reads and writes of file descriptors, over interruptions and partial transfers.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace gemmsmith {

// False with errno where the descriptor fails.
bool WriteAll(int fd, std::string_view bytes);
// Up to `count` bytes, fewer only where the stream ends; their number, or -1 with errno.
ssize_t ReadUpTo(int fd, size_t count, std::string& bytes);

}  // namespace gemmsmith
