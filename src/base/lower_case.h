// Text with A to Z in lower case; every other byte stays.
#pragma once

#include <string>
#include <string_view>

namespace gemmsmith {

inline std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return lower;
}

}  // namespace gemmsmith
