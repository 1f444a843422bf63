// The definitions of a file of C++ or CUDA that stand outside of functions and classes, also those in namespaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpp_tokens.h"

namespace gemmsmith {

enum class CodeItemKind : uint8_t {
  kKernel,    // a function that is __global__
  kFunction,  // with its body
  kType,      // a class or an enumeration with its body
  kValue,     // a constant, a name for a type, a macro
  kOther,     // a declaration, an instantiation
};

struct CodeItem {
  CodeItemKind kind = CodeItemKind::kOther;
  std::string name;
  std::string_view comment;                // directly above; empty: none
  std::string_view text;                   // without the comment
  size_t begin = 0;                        // of the text
  size_t first_token = 0, last_token = 0;  // those of the text, the last one not included
};

// In the order of the file. Text that cannot be understood is a part of some item, or of none.
std::vector<CodeItem> CodeItems(std::string_view code, const std::vector<CppToken>& tokens);
// The same of what stands in a class of that file.
std::vector<CodeItem> CodeMembers(std::string_view code, const std::vector<CppToken>& tokens, const CodeItem& type);

}  // namespace gemmsmith
