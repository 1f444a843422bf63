#include "cli/exit.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/aside.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr size_t kMostBytes = 4000;

// User input is quoted in messages: control characters in it must not reach a terminal, and it may be a whole file.
std::string OneLine(std::string_view text) {
  std::string line;
  if (text.size() > kMostBytes)
    return fmt::format("{} ... {}", OneLine(text.substr(0, kMostBytes / 2)),
                       OneLine(text.substr(text.size() - kMostBytes / 2)));
  for (const char c : text) {
    if (IsControl(c)) {
      line += c == '\n' || c == '\t' ? std::string(" ") : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

int ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return kExitDone;
    case StatusCode::kInvalidArgument:
      return kExitWrongUse;
    case StatusCode::kNotFound:
    case StatusCode::kUnavailable:
      return kExitLacking;
    case StatusCode::kInterrupted:
      return kExitInterrupted;
    case StatusCode::kIoError:
    case StatusCode::kDataLoss:
      return kExitFailure;
  }
  return kExitFailure;
}

Status WriteOut(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (errno == EPIPE) return OkStatus();  // as `| head` does: whoever reads has seen enough
    return IoError(fmt::format("standard output: {}", std::strerror(errno)));
  }
  return OkStatus();
}

void WriteError(std::string_view message) { WriteAside(fmt::format("gemmsmith: {}\n", OneLine(message))); }

void WriteNote(std::string_view message) { WriteAside(OneLine(message) + "\n"); }

}  // namespace gemmsmith
