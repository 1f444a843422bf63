// The tokens of a C++ text, for texts that a compiler reads too: what is malformed costs nothing but a wrong token.
#pragma once

#include <string_view>
#include <vector>

namespace gemmsmith {

enum class CppTokenKind { kName, kNumber, kString, kDirective, kPunctuation };

struct CppToken {
  CppTokenKind kind = CppTokenKind::kPunctuation;
  std::string_view text;  // a part of the given text; a directive is its whole line
  bool Is(std::string_view words) const { return text == words && kind != CppTokenKind::kString; }
  bool IsName() const { return kind == CppTokenKind::kName; }
};

// Without white space and comments. Keywords are names. Comparisons, `::` and `->` are one token; `>>` is two, because
// it may close two lists of template arguments.
std::vector<CppToken> CppTokens(std::string_view text);

}  // namespace gemmsmith
