#include "corpus/clean/code_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace gemmsmith {

namespace {

bool IsNameChar(char c) { return std::isalnum(uint8_t(c)) || c == '_' || uint8_t(c) >= 0x80; }

class CodeScanner {
 public:
  explicit CodeScanner(std::string_view code) : code_(code) {}

  std::vector<CodeToken> Run() {
    while (at_ < code_.size()) {
      const char c = code_[at_];
      if (c == '\n') is_line_start_ = true;
      if (std::isspace(uint8_t(c)))
        ++at_;
      else
        Take(c);
    }
    return std::move(tokens_);
  }

 private:
  bool Has(std::string_view words) const { return code_.substr(at_).starts_with(words); }

  void Add(CodeTokenKind kind, size_t end) {
    end = std::clamp(end, at_ + 1, code_.size());
    tokens_.push_back({kind, at_, code_.substr(at_, end - at_)});
    at_ = end;
  }

  void Take(char c) {
    const bool is_line_start = is_line_start_;
    if (!Has("/*")) is_line_start_ = false;
    if (c == '#' && is_line_start) return Add(CodeTokenKind::kDirective, DirectiveEnd());
    if (Has("//")) return Add(CodeTokenKind::kComment, LineEnd(at_));
    if (Has("/*")) return Add(CodeTokenKind::kComment, After("*/", at_ + 2));
    if (Has("R\"")) return Add(CodeTokenKind::kQuoted, RawEnd());
    if (c == '"' || c == '\'') return Add(CodeTokenKind::kQuoted, QuoteEnd(c));
    if (std::isdigit(uint8_t(c))) return Add(CodeTokenKind::kNumber, NumberEnd());
    if (IsNameChar(c)) return Add(CodeTokenKind::kName, NameEnd());
    Add(CodeTokenKind::kSign, at_ + 1);
  }

  size_t After(std::string_view words, size_t from) const {
    const size_t found = code_.find(words, from);
    return found == std::string_view::npos ? code_.size() : found + words.size();
  }
  size_t LineEnd(size_t from) const { return std::min(code_.find('\n', from), code_.size()); }

  // A comment of several lines that begins in a directive belongs to it.
  size_t DirectiveEnd() const {
    size_t end = LineEnd(at_);
    while (end < code_.size() && code_[end - 1] == '\\') end = LineEnd(end + 1);
    const size_t comment = code_.substr(at_, end - at_).rfind("/*");
    if (comment != std::string_view::npos) end = std::max(end, After("*/", at_ + comment + 2));
    return end;
  }
  size_t RawEnd() const {
    constexpr size_t kLongestMark = 19;  // with R"
    const size_t bracket = code_.substr(at_, kLongestMark).find('(');
    if (bracket == std::string_view::npos) return at_ + 1;
    const std::string mark = ")" + std::string(code_.substr(at_ + 2, bracket - 2)) + "\"";
    return After(mark, at_ + bracket);
  }
  // At the end of the line at the latest.
  size_t QuoteEnd(char quote) const {
    for (size_t i = at_ + 1; i < code_.size(); ++i) {
      if (code_[i] == '\\')
        ++i;
      else if (code_[i] == quote)
        return i + 1;
      else if (code_[i] == '\n')
        return i;
    }
    return code_.size();
  }
  // With the quotes between its digits.
  size_t NumberEnd() const {
    size_t end = at_ + 1;
    while (end < code_.size() && (IsNameChar(code_[end]) || code_[end] == '.' ||
                                  (code_[end] == '\'' && end + 1 < code_.size() && IsNameChar(code_[end + 1]))))
      ++end;
    return end;
  }
  size_t NameEnd() const {
    size_t end = at_ + 1;
    while (end < code_.size() && IsNameChar(code_[end])) ++end;
    return end;
  }

  const std::string_view code_;
  size_t at_ = 0;
  bool is_line_start_ = true;
  std::vector<CodeToken> tokens_;
};

}  // namespace

std::vector<CodeToken> CodeTokens(std::string_view code) { return CodeScanner(code).Run(); }

}  // namespace gemmsmith
