#include "corpus/clean/code_items.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace gemmsmith {

namespace {

// Names before a bracket that are not what is defined.
constexpr std::string_view kNotDefined[] = {
    "__launch_bounds__", "__attribute__", "__align__",        "alignas",     "decltype", "requires",     "noexcept",
    "explicit",          "__declspec",    "__cluster_dims__", "__maxnreg__", "sizeof",   "static_assert"};

bool IsTypeWord(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

bool IsAccess(std::string_view word) { return word == "public" || word == "protected" || word == "private"; }

bool IsUpperName(std::string_view name) {
  return name.size() > 3 && std::ranges::none_of(name, [](char c) { return std::islower(uint8_t(c)) != 0; });
}

// A macro that opens or closes a namespace and stands by itself.
bool IsNamespaceMacro(std::string_view name) {
  return IsUpperName(name) &&
         (name.find("NAMESPACE") != name.npos || name.find("_BEGIN") != name.npos || name.find("BEGIN_") != name.npos ||
          name.find("_END") != name.npos || name.find("END_") != name.npos);
}

// A declaration while it is read.
struct Declaration {
  std::string_view function, type, value, last;  // names
  bool is_kernel = false, is_type = false, has_bracket = false, has_value = false, has_body = false;
};

class ItemFinder {
 public:
  // Looks at the tokens from `begin` to `end`.
  ItemFinder(std::string_view code, const std::vector<CppToken>& tokens, size_t begin, size_t end)
      : code_(code), tokens_(tokens), end_(end), at_(begin) {}

  std::vector<CodeItem> Run() {
    while (at_ < end_) TakeOne();
    return std::move(items_);
  }

 private:
  const CppToken& Token(size_t i) const { return tokens_[i]; }
  bool Is(size_t i, std::string_view text) const { return i < end_ && tokens_[i].text == text; }
  bool IsKind(size_t i, CppTokenKind kind) const { return i < end_ && tokens_[i].kind == kind; }

  // Blank lines part a comment from what follows.
  bool AreAdjacent(size_t end, size_t begin) const {
    return std::ranges::count(code_.substr(end, begin - end), '\n') <= 1;
  }

  void TakeOne() {
    const CppToken& token = Token(at_);
    if (token.kind == CppTokenKind::kComment) return TakeComment();
    if (token.kind == CppTokenKind::kDirective) return TakeDirective();
    if (token.text == "}" || token.text == ";") return Drop(at_ + 1);
    if (IsAccess(token.text) && Is(at_ + 1, ":")) return Drop(at_ + 2);
    if (const std::optional<size_t> inside = InsideOfNamespace()) return Drop(*inside);
    if (IsNamespaceMacro(token.text) && !Is(at_ + 1, "(")) return Drop(at_ + 1);
    TakeDeclaration();
  }

  void Drop(size_t next) {
    comment_begin_ = comment_end_ = 0;
    at_ = next;
  }

  void TakeComment() {
    const CppToken& token = Token(at_++);
    if (comment_end_ == 0 || !AreAdjacent(comment_end_, token.begin)) comment_begin_ = token.begin;
    comment_end_ = token.end();
  }

  void TakeDirective() {
    std::string_view text = Token(at_).text.substr(1);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
    if (!text.starts_with("define")) return Drop(at_ + 1);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t", 6)));
    const size_t end = size_t(
        std::ranges::find_if_not(text, [](char c) { return std::isalnum(uint8_t(c)) || c == '_'; }) - text.begin());
    Add(CodeItemKind::kValue, text.substr(0, end), at_, at_ + 1);
  }

  // The first token inside, where a namespace or extern "C" opens here.
  std::optional<size_t> InsideOfNamespace() const {
    size_t i = at_;
    if (Is(i, "inline")) ++i;
    const bool is_extern = Is(i, "extern") && IsKind(i + 1, CppTokenKind::kString) && Is(i + 2, "{");
    if (is_extern) return i + 3;
    if (!Is(i, "namespace")) return std::nullopt;
    for (++i; i < end_ && !Is(i, ";") && !Is(i, "="); ++i)
      if (Is(i, "{")) return i + 1;
    return std::nullopt;
  }

  // Behind the bracket that closes the one at `open`. In branches of the preprocessor the brackets of one count.
  size_t Behind(size_t open) const {
    int depth = 0;
    std::vector<int> branches;
    for (size_t i = open; i < end_; ++i) {
      const std::string_view text = Token(i).text;
      if (Token(i).kind == CppTokenKind::kDirective) {
        if (text.find("if") != text.npos && text.find("endif") == text.npos && text.find("elif") == text.npos)
          branches.push_back(depth);
        else if ((text.find("else") != text.npos || text.find("elif") != text.npos) && !branches.empty())
          depth = branches.back();
        else if (text.find("endif") != text.npos && !branches.empty())
          branches.pop_back();
      }
      if (Token(i).kind != CppTokenKind::kSign) continue;
      if (text == "(" || text == "{" || text == "[") ++depth;
      if ((text == ")" || text == "}" || text == "]") && --depth <= 0) return i + 1;
    }
    return end_;
  }

  // Behind "template <...>", as often as it stands there.
  size_t BehindTemplate(size_t i) const {
    while (Is(i, "template") && Is(i + 1, "<")) {
      int depth = 0;
      for (++i; i < end_;) {
        if (Is(i, "(") || Is(i, "{") || Is(i, "[")) {
          i = Behind(i);
          continue;
        }
        if (Is(i, "<")) ++depth;
        if (Is(i, ">") && --depth == 0) break;
        if (Is(i, ";")) return i;
        ++i;
      }
      i = std::min(i + 1, end_);
    }
    return i;
  }

  void TakeDeclaration() {
    const size_t begin = at_;
    Declaration seen;
    size_t i = BehindTemplate(begin);
    while (i < end_) {
      if (Is(i, ";")) {
        ++i;
        break;
      }
      if (Is(i, "}")) break;  // of a namespace: the declaration has no end
      const bool opens_body = Is(i, "{");
      if (opens_body || Is(i, "(") || Is(i, "[")) {
        if (Is(i, "(")) TakeBracket(i, seen);
        const bool ends_function = opens_body && seen.has_bracket && !seen.has_value;
        seen.has_body = seen.has_body || opens_body;
        i = Behind(i);
        if (ends_function) break;
        continue;
      }
      TakeWord(i, seen);
      i = Is(i, "operator") ? BehindOperator(i) : i + 1;
    }
    AddDeclaration(seen, begin, std::max(i, begin + 1));
  }

  void TakeBracket(size_t i, Declaration& seen) const {
    if (i == 0 || seen.has_value || Token(i - 1).kind != CppTokenKind::kName) return;
    const std::string_view name = Token(i - 1).text;
    if (std::ranges::find(kNotDefined, name) != std::end(kNotDefined)) return;
    if (seen.is_type && IsUpperName(name)) return;  // a macro's attribute
    if (seen.function.empty() || IsUpperName(seen.function)) seen.function = name;
    seen.has_bracket = true;
  }

  // Behind the signs of "operator==" and "operator()", at the bracket of what it is called with.
  size_t BehindOperator(size_t i) const {
    if (Is(i + 1, "(") && Is(i + 2, ")")) return i + 3;
    for (++i; i < end_ && !Is(i, "(") && !Is(i, ";") && !Is(i, "{"); ++i) continue;
    return i;
  }

  void TakeWord(size_t i, Declaration& seen) const {
    const std::string_view text = Token(i).text;
    if (text == "__global__") seen.is_kernel = true;
    if (text == "operator") seen.function = text, seen.has_bracket = true;
    if (IsTypeWord(text) && !seen.has_bracket) seen.is_type = true;
    if (text == "=" && !seen.has_value) {
      seen.has_value = true;
      if (seen.value.empty()) seen.value = seen.last;
    }
    if (Token(i).kind == CppTokenKind::kName) seen.last = text;
    const bool is_name = Token(i).kind == CppTokenKind::kName && !Is(i + 1, "(") && !IsTypeWord(text);
    if (seen.is_type && seen.type.empty() && is_name && text != "final" && !IsUpperName(text)) seen.type = text;
    if (Is(i + 1, ";") && Token(i).kind == CppTokenKind::kName && seen.value.empty()) seen.value = text;
  }

  void AddDeclaration(const Declaration& seen, size_t begin, size_t end) {
    const std::string_view first = Token(begin).text;
    const bool is_alias = first == "using" || first == "typedef";
    if (seen.is_type && seen.has_body && !seen.has_bracket && !is_alias)
      return Add(CodeItemKind::kType, seen.type, begin, end);
    if (seen.has_bracket && seen.has_body && !seen.has_value)
      return Add(seen.is_kernel ? CodeItemKind::kKernel : CodeItemKind::kFunction, seen.function, begin, end);
    if (is_alias || seen.has_value) return Add(CodeItemKind::kValue, seen.value, begin, end);
    Add(CodeItemKind::kOther, "", begin, end);
  }

  void Add(CodeItemKind kind, std::string_view name, size_t begin, size_t end) {
    const size_t from = Token(begin).begin, to = Token(end - 1).end();
    CodeItem item{.kind = kind,
                  .name = std::string(name),
                  .comment = {},
                  .text = code_.substr(from, to - from),
                  .begin = from,
                  .first_token = begin,
                  .last_token = end};
    if (comment_end_ != 0 && AreAdjacent(comment_end_, from))
      item.comment = code_.substr(comment_begin_, comment_end_ - comment_begin_);
    items_.push_back(std::move(item));
    Drop(end);
  }

  const std::string_view code_;
  const std::vector<CppToken>& tokens_;
  const size_t end_;
  size_t at_;
  size_t comment_begin_ = 0, comment_end_ = 0;  // an end of 0: none
  std::vector<CodeItem> items_;
};

}  // namespace

std::vector<CodeItem> CodeItems(std::string_view code, const std::vector<CppToken>& tokens) {
  return ItemFinder(code, tokens, 0, tokens.size()).Run();
}

std::vector<CodeItem> CodeMembers(std::string_view code, const std::vector<CppToken>& tokens, const CodeItem& type) {
  size_t open = type.first_token;
  while (open < type.last_token && tokens[open].text != "{") ++open;
  size_t close = type.last_token;
  while (close > open && tokens[close - 1].text != "}") --close;
  if (close <= open + 1) return {};
  return ItemFinder(code, tokens, open + 1, close - 1).Run();
}

}  // namespace gemmsmith
