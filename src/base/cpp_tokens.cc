#include "base/cpp_tokens.h"

#include <algorithm>
#include <string>

namespace gemmsmith {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || static_cast<signed char>(c) < 0;
}
bool IsInName(char c) { return StartsName(c) || IsDigit(c); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class CppScanner {
 public:
  explicit CppScanner(std::string_view text) : text_(text) {}

  std::vector<CppToken> Run(CppComments comments) {
    while (SkipSpace(), at_ < text_.size()) {
      const size_t begin = at_;
      const CppTokenKind kind = Scan();
      at_ = std::min(at_, text_.size());
      if (kind != CppTokenKind::kComment || comments == CppComments::kKept)
        tokens_.push_back({kind, begin, text_.substr(begin, at_ - begin)});
    }
    return std::move(tokens_);
  }

 private:
  char At(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  bool Follows(std::string_view words) const { return text_.substr(at_).starts_with(words); }
  size_t LineEnd(size_t from) const { return std::min(text_.find('\n', from), text_.size()); }
  size_t Behind(std::string_view words, size_t from) const {
    const size_t found = text_.find(words, from);
    return found == std::string_view::npos ? text_.size() : found + words.size();
  }

  void SkipSpace() {
    for (; at_ < text_.size() && IsSpace(text_[at_]); ++at_) begins_line_ = begins_line_ || text_[at_] == '\n';
  }

  CppTokenKind Scan() {
    if (Follows("/*")) return ScanTo(Behind("*/", at_ + 2), CppTokenKind::kComment);
    const char first = text_[at_];
    const bool begins_line = begins_line_;
    begins_line_ = false;
    if (Follows("//")) return ScanTo(LineEnd(at_), CppTokenKind::kComment);
    if (first == '#' && begins_line) return ScanTo(DirectiveEnd(), CppTokenKind::kDirective);
    if (first == '"' || first == '\'') return ScanQuoted(first);
    if (IsDigit(first) || (first == '.' && IsDigit(At(at_ + 1)))) return ScanNumber();
    if (StartsName(first)) return ScanName();
    constexpr std::string_view kPairs[] = {"::", "->", "==", "!=", "<=", ">="};
    const bool is_pair = std::ranges::any_of(kPairs, [&](std::string_view pair) { return Follows(pair); });
    return ScanTo(at_ + (is_pair ? 2 : 1), CppTokenKind::kSign);
  }

  CppTokenKind ScanTo(size_t end, CppTokenKind kind) {
    at_ = end;
    return kind;
  }

  size_t DirectiveEnd() const {
    size_t end = LineEnd(at_);
    while (end < text_.size() && text_[end - 1] == '\\') end = LineEnd(end + 1);
    const size_t comment = text_.substr(at_, end - at_).rfind("/*");
    return comment == std::string_view::npos ? end : std::max(end, Behind("*/", at_ + comment + 2));
  }

  CppTokenKind ScanQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) return ScanTo(at_ + 1, CppTokenKind::kString);
      if (text_[at_] == '\\') ++at_;
    }
    return CppTokenKind::kString;
  }

  CppTokenKind ScanNumber() {
    for (++at_; IsInName(At(at_)) || At(at_) == '.' || IsBetweenDigits() || IsExponentSign(); ++at_) continue;
    return CppTokenKind::kNumber;
  }
  bool IsBetweenDigits() const { return At(at_) == '\'' && IsInName(At(at_ + 1)); }
  bool IsExponentSign() const {
    constexpr std::string_view kExponents = "eEpP";
    return (At(at_) == '+' || At(at_) == '-') && kExponents.find(text_[at_ - 1]) != std::string_view::npos;
  }

  // A name, or a string whose prefix looks like one.
  CppTokenKind ScanName() {
    const size_t begin = at_;
    while (IsInName(At(at_))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    constexpr std::string_view kPrefixes[] = {"R", "L", "u", "U", "u8", "LR", "uR", "UR", "u8R"};
    const char quote = At(at_);
    if ((quote != '"' && quote != '\'') || std::ranges::find(kPrefixes, name) == std::end(kPrefixes))
      return CppTokenKind::kName;
    return name.ends_with('R') && quote == '"' ? ScanRaw() : ScanQuoted(quote);
  }

  CppTokenKind ScanRaw() {
    constexpr size_t kLongestMark = 16;
    const std::string_view mark = text_.substr(at_ + 1, kLongestMark + 1);
    const size_t bracket = mark.find('(');
    if (bracket == std::string_view::npos) return ScanQuoted('"');
    const std::string end = ")" + std::string(mark.substr(0, bracket)) + "\"";
    return ScanTo(Behind(end, at_ + 1 + bracket), CppTokenKind::kString);
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool begins_line_ = true;
  std::vector<CppToken> tokens_;
};

}  // namespace

std::vector<CppToken> CppTokens(std::string_view text, CppComments comments) { return CppScanner(text).Run(comments); }

}  // namespace gemmsmith
