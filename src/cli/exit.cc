#include "cli/exit.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/stderr_text.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxBytes = 4000;

// User input is quoted in messages: control characters in it must not reach a terminal, and it may be a whole file.
std::string OneLine(std::string_view text) {
  std::string line;
  if (text.size() > kMaxBytes)
    return fmt::format("{} ... {}", OneLine(text.substr(0, kMaxBytes / 2)),
                       OneLine(text.substr(text.size() - kMaxBytes / 2)));
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

void WriteError(std::string_view message) { WriteStderr(fmt::format("gemmsmith: {}\n", OneLine(message))); }

void WriteNote(std::string_view message) { WriteStderr(OneLine(message) + "\n"); }

}  // namespace gemmsmith
