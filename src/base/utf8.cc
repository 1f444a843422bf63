#include "base/utf8.h"

#include <cstdint>

namespace gemmsmith {

size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xc2 && first < 0xe0   ? 2
                      : (first & 0xf0) == 0xe0        ? 3
                      : first >= 0xf0 && first < 0xf5 ? 4
                                                      : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return is_overlong || is_no_character ? 0 : size;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace gemmsmith
