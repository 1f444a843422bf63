// Characters of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace gemmsmith {

// Bytes of the character at the front of a text that is not empty. 0 where there is none: a byte out of place, an
// overlong form, a surrogate, or a number above the last character.
size_t CharacterBytes(std::string_view text);
bool IsUtf8(std::string_view text);

}  // namespace gemmsmith
