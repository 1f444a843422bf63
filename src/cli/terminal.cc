#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/installation.h"

namespace gemmsmith {

namespace {

bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Environment(name);
    if (!value.empty()) return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

}  // namespace

Terminal DescribeTerminal(int file_descriptor) {
  Terminal terminal;
  const std::string_view type = Environment("TERM");
  terminal.interactive = isatty(file_descriptor) == 1 && !type.empty() && type != "dumb";
  terminal.color = terminal.interactive && Environment("NO_COLOR").empty();
  terminal.unicode = LocaleIsUtf8();
  winsize size{};
  if (terminal.interactive && ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

std::string Tinted(std::string_view text, Tint tint, const Terminal& terminal) {
  if (!terminal.color) return std::string(text);
  constexpr int kCodes[] = {1, 2, 32, 33, 31};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[int(tint)], text);
}

}  // namespace gemmsmith
