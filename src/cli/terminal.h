// What the stream that people look at can show.
#pragma once

#include <string>
#include <string_view>

namespace gemmsmith {

struct Terminal {
  bool interactive = false;  // a terminal that can move its cursor; else lines for a log
  bool color = false;        // interactive and not refused by NO_COLOR
  bool unicode = false;      // the locale's encoding is UTF-8
  int columns = 80;
};
Terminal DescribeTerminal(int file_descriptor);

enum class Tint { kBold, kDim, kGreen, kYellow, kRed };
// The text in a colour where the terminal has colours.
std::string Tinted(std::string_view text, Tint tint, const Terminal& terminal);

}  // namespace gemmsmith
