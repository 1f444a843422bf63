// Text without the spaces and tabs at its ends.
#pragma once

#include <string_view>

namespace gemmsmith {

inline std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace gemmsmith
