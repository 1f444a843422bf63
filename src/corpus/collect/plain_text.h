// Texts of strangers as clean UTF-8.
#pragma once

#include <optional>
#include <string>

namespace gemmsmith {

// Without a byte order mark, with plain line ends; a few bytes that are no UTF-8 become U+FFFD. nullopt for what is no
// text: zero bytes, or more than one byte in 32 that is no UTF-8.
std::optional<std::string> PlainText(std::string bytes);

}  // namespace gemmsmith
