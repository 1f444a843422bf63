// The tokens of C++ and CUDA, as far as texts are cut and compared by them. Any bytes have tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gemmsmith {

enum class CodeTokenKind : uint8_t {
  kName,
  kNumber,
  kQuoted,     // a string or a character, raw strings included
  kSign,       // one character
  kComment,    // a block, or one line without its end
  kDirective,  // of the preprocessor, with the lines that continue it
};

struct CodeToken {
  CodeTokenKind kind = CodeTokenKind::kSign;
  size_t begin = 0;
  std::string_view text;
  size_t end() const { return begin + text.size(); }
};

std::vector<CodeToken> CodeTokens(std::string_view code);

}  // namespace gemmsmith
