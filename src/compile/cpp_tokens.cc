#include "compile/cpp_tokens.h"

#include <algorithm>

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

  std::vector<CppToken> Run() {
    while (SkipSpace(), at_ < text_.size()) {
      const size_t begin = at_;
      const CppTokenKind kind = Scan();
      tokens_.push_back({kind, text_.substr(begin, at_ - begin)});
    }
    return std::move(tokens_);
  }

 private:
  char At(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  bool Follows(std::string_view words) const { return text_.substr(at_).starts_with(words); }

  void SkipTo(std::string_view end, size_t from) {
    const size_t found = text_.find(end, from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      if (IsSpace(text_[at_])) {
        begins_line_ = begins_line_ || text_[at_] == '\n';
        ++at_;
      } else if (Follows("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Follows("/*")) {
        SkipTo("*/", at_ + 2);
      } else {
        return;
      }
    }
  }

  CppTokenKind Scan() {
    const char first = text_[at_];
    const bool begins_line = begins_line_;
    begins_line_ = false;
    if (first == '#' && begins_line) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return CppTokenKind::kDirective;
    }
    if (first == '"' || first == '\'') return ScanQuoted(first);
    if (IsDigit(first) || (first == '.' && IsDigit(At(at_ + 1)))) return ScanNumber();
    if (StartsName(first)) return ScanName();
    constexpr std::string_view kPairs[] = {"::", "->", "==", "!=", "<=", ">="};
    const auto* const pair = std::ranges::find_if(kPairs, [&](std::string_view each) { return Follows(each); });
    at_ += pair == std::end(kPairs) ? 1 : 2;
    return CppTokenKind::kPunctuation;
  }

  CppTokenKind ScanQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
    return CppTokenKind::kString;
  }

  CppTokenKind ScanNumber() {
    for (++at_; IsInName(At(at_)) || At(at_) == '.' || At(at_) == '\'' || IsExponentSign(); ++at_) continue;
    return CppTokenKind::kNumber;
  }
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
    if (!name.ends_with('R') || quote == '\'') return ScanQuoted(quote);
    const size_t open = std::min(text_.find('(', at_), text_.size());
    SkipTo(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"", open);
    return CppTokenKind::kString;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool begins_line_ = true;
  std::vector<CppToken> tokens_;
};

}  // namespace

std::vector<CppToken> CppTokens(std::string_view text) { return CppScanner(text).Run(); }

}  // namespace gemmsmith
