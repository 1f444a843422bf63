#include "corpus/collect/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace gemmsmith {

namespace {

constexpr size_t kTextForABadByte = 32;

// Bytes of the character at the front; 0 where there is none.
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

}  // namespace

std::optional<std::string> PlainText(std::string bytes) {
  if (bytes.find('\0') != std::string::npos) return std::nullopt;
  std::string text;
  text.reserve(bytes.size());
  size_t bad = 0;
  std::string_view rest = bytes;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const size_t size = CharacterBytes(rest);
    if (size == 0)
      text += "\xef\xbf\xbd", ++bad;
    else if (rest[0] == '\r')
      text += rest.size() > 1 && rest[1] == '\n' ? "" : "\n";
    else
      text += rest.substr(0, size);
    rest.remove_prefix(std::max<size_t>(size, 1));
  }
  if (bad * kTextForABadByte > bytes.size()) return std::nullopt;
  return text;
}

}  // namespace gemmsmith
