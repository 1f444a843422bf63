// The declarations of preprocessed headers, so that a source is given only those that it can name.
//
// A declaration that is left out must not change what the rest means. So for every name that the source has, or that a
// chosen declaration mentions, all declarations of that name are chosen: lookups find the same, overloads included.
// Namespaces are not cut. A source that names one needs everything.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

using Names = std::set<std::string, std::less<>>;

class Declarations {
 public:
  // `text` comes from `g++ -E -dD`. InvalidArgument where its structure is not understood.
  static Result<Declarations> Read(std::string_view text);

  // A text that stands for the headers in a source with the names `own`, its macros last. `fixed` are names that the
  // compiler adds. nullopt: everything is needed.
  std::optional<std::string> Select(const Names& own, const Names& fixed) const;

 private:
  friend class DeclarationReader;
  struct Declaration {
    std::string_view text;
    std::vector<std::string_view> declares, mentions;
    bool is_frame = false;      // extern "C" { or its end: always chosen
    bool is_namespace = false;  // or an alias of one
    bool is_borrowed = false;   // using std::abs: chosen only for a source that has the name itself
  };

  Names WithMacros(const Names& names) const;

  std::unique_ptr<const std::string> text_;  // without directives
  std::vector<Declaration> declarations_;
  std::unordered_map<std::string_view, std::vector<size_t>> by_name_;
  std::unordered_map<std::string, std::string> macros_;  // by name, the whole line; also an #undef
  std::string macro_text_;
};

// The names of a text, keywords among them.
Names NamesOf(std::string_view text);

}  // namespace gemmsmith
