#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "base/trimmed.h"
#include "corpus/clean/page.h"

namespace gemmsmith {

namespace {

size_t IndentOf(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// A line of ``` or ~~~, with what follows.
struct Fence {
  char sign = '`';
  size_t length = 0, indent = 0;
  std::string_view info;
};
std::optional<Fence> FenceIn(std::string_view line) {
  const size_t indent = IndentOf(line);
  line.remove_prefix(indent);
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return std::nullopt;
  const size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  const Fence fence{line[0], length, indent, Trimmed(line.substr(length))};
  if (length < 3 || (fence.sign == '`' && fence.info.find('`') != fence.info.npos)) return std::nullopt;
  return fence;
}

// "```c++ {.numbered}" and "``` {.cpp}"
std::string LanguageOf(std::string_view info) {
  std::string language;
  for (const char c : info) {
    if (std::isspace(uint8_t(c)) || c == ',' || c == '}')
      if (!language.empty()) break;
    if (std::isalnum(uint8_t(c)) || c == '+' || c == '#') language += char(std::tolower(uint8_t(c)));
  }
  return language;
}

// The title and its level.
std::optional<std::pair<int, std::string_view>> HeadingIn(std::string_view line) {
  const size_t level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > 6 || level == line.size() || line[level] != ' ') return std::nullopt;
  std::string_view title = Trimmed(line.substr(level));
  while (title.ends_with('#')) title.remove_suffix(1);
  return std::pair(int(level), Trimmed(title));
}

bool IsRuleOf(std::string_view line, char sign) {
  const std::string_view rule = Trimmed(line);
  return rule.size() >= 3 && rule.find_first_not_of(sign) == rule.npos;
}

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view page) : lines_(Split(page, '\n')) {}

  std::vector<PagePart> Run() {
    while (at_ < lines_.size()) TakeLine();
    FlushWords();
    return std::move(parts_);
  }

 private:
  void TakeLine() {
    const std::string_view line = lines_[at_];
    if (const std::optional<Fence> fence = FenceIn(line)) return TakeFenced(*fence);
    if (const auto heading = HeadingIn(line)) return TakeHeading(heading->first, heading->second, 1);
    if (const int level = UnderlineLevel(); level > 0) return TakeHeading(level, Trimmed(line), 2);
    if (words_.empty() && !in_list_ && IndentOf(line) >= 4 && IndentOf(line) < line.size()) return TakeIndented();
    if (Trimmed(line).empty()) {
      FlushWords();
      ++at_;
      return;
    }
    const bool is_item = line.starts_with("- ") || line.starts_with("* ") || std::isdigit(uint8_t(line[0]));
    in_list_ = is_item || (in_list_ && line[0] == ' ');
    if (words_.empty()) words_line_ = int64_t(at_) + 1;
    words_ += std::string(line) + "\n";
    ++at_;
  }

  // The level of a heading that the line below makes one; else 0.
  int UnderlineLevel() const {
    if (!words_.empty() || at_ + 1 >= lines_.size() || Trimmed(lines_[at_]).empty()) return 0;
    if (lines_[at_].find('|') != std::string_view::npos || IsRuleOf(lines_[at_], '-')) return 0;
    return IsRuleOf(lines_[at_ + 1], '=') ? 1 : IsRuleOf(lines_[at_ + 1], '-') ? 2 : 0;
  }

  void FlushWords() {
    if (!words_.empty())
      parts_.push_back({.kind = PagePartKind::kWords, .language = {}, .text = std::move(words_), .line = words_line_});
    words_.clear();
  }

  void TakeHeading(int level, std::string_view title, size_t lines) {
    FlushWords();
    in_list_ = false;
    parts_.push_back({PagePartKind::kHeading, level, "", std::string(title), int64_t(at_) + 1});
    at_ += lines;
  }

  void TakeFenced(const Fence& open) {
    FlushWords();
    PagePart part{PagePartKind::kCode, 0, LanguageOf(open.info), "", int64_t(at_) + 2};
    for (++at_; at_ < lines_.size(); ++at_) {
      const std::optional<Fence> close = FenceIn(lines_[at_]);
      if (close && close->sign == open.sign && close->length >= open.length && close->info.empty()) {
        ++at_;
        break;
      }
      part.text += std::string(lines_[at_].substr(std::min(open.indent, IndentOf(lines_[at_])))) + "\n";
    }
    parts_.push_back(std::move(part));
  }

  void TakeIndented() {
    PagePart part{PagePartKind::kCode, 0, "", "", int64_t(at_) + 1};
    for (; at_ < lines_.size(); ++at_) {
      const std::string_view line = lines_[at_];
      const bool is_blank = Trimmed(line).empty();
      if (!is_blank && IndentOf(line) < 4) break;
      part.text += std::string(is_blank ? "" : line.substr(4)) + "\n";
    }
    while (part.text.ends_with("\n\n")) part.text.pop_back();
    parts_.push_back(std::move(part));
  }

  const std::vector<std::string_view> lines_;
  size_t at_ = 0;
  std::string words_;
  int64_t words_line_ = 0;
  bool in_list_ = false;  // whose further lines are indented
  std::vector<PagePart> parts_;
};

}  // namespace

std::vector<PagePart> ParseMarkdown(std::string_view page) { return MarkdownReader(page).Run(); }

}  // namespace gemmsmith
