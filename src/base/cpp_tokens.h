// The tokens of a text in C++ or CUDA. Any bytes have tokens: what is malformed costs nothing but a wrong one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gemmsmith {

enum class CppTokenKind : uint8_t {
  kName,  // Keywords too.
  kNumber,
  kString,     // Or a character. An ordinary one ends with its line at the latest.
  kSign,       // Comparisons, `::` and `->` are one. `>>` is two: it may close two lists of template arguments.
  kComment,    // A block, or one line without its end.
  kDirective,  // For the preprocessor, with the lines and the comment that continue it.
};

struct CppToken {
  CppTokenKind kind = CppTokenKind::kSign;
  size_t begin = 0;
  std::string_view text;  // a part of the given text
  size_t end() const { return begin + text.size(); }
  bool Is(std::string_view words) const { return text == words && kind != CppTokenKind::kString; }
  bool IsName() const { return kind == CppTokenKind::kName; }
};

enum class CppComments : uint8_t { kLeftOut, kKept };
std::vector<CppToken> CppTokens(std::string_view text, CppComments comments = CppComments::kLeftOut);

}  // namespace gemmsmith
