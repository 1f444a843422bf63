#include "corpus/collect/plain_text.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace gemmsmith {

namespace {

constexpr size_t kTextForABadByte = 32;

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
