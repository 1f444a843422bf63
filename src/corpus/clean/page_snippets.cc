#include "corpus/clean/page_snippets.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "corpus/clean/author_words.h"

namespace gemmsmith {

namespace {

constexpr size_t kLargestSection = 6 << 10, kLargestBlock = 24 << 10, kFewestSectionBytes = 40;
constexpr int64_t kFewestBlockLines = 4;
constexpr std::string_view kLanguages[] = {"c", "cc", "cpp", "c++", "cxx", "cu", "cuda", "cudac++"};

bool IsOurLanguage(const PagePart& part) {
  if (!part.language.empty()) return std::ranges::find(kLanguages, part.language) != std::end(kLanguages);
  const std::string_view text = part.text;
  return text.find(';') != text.npos && text.find('{') != text.npos && text.find('(') != text.npos;
}

class PageCutter {
 public:
  explicit PageCutter(const Snippet& file) : file_(file) {}

  std::vector<Snippet> Run(const std::vector<PagePart>& page) {
    for (const PagePart& part : page) {
      if (part.kind == PagePartKind::kHeading) {
        FlushSection();
        headings_.erase(headings_.lower_bound(part.level), headings_.end());
        headings_[part.level] = part.text;
        paragraph_.clear();
        continue;
      }
      if (part.kind == PagePartKind::kCode) TakeBlock(part);
      AddToSection(part);
      if (part.kind == PagePartKind::kWords) paragraph_ = part.text;
    }
    FlushSection();
    return std::move(snippets_);
  }

 private:
  std::string Title() const {
    std::string title;
    for (const auto& [level, heading] : headings_) title += (title.empty() ? "" : " > ") + heading;
    return title.empty() ? file_.path : title;
  }

  void Add(SnippetKind kind, std::string text, int64_t line, std::string instruction) {
    snippets_.push_back({.context = {},
                         .instruction = instruction,
                         .text = std::move(text),
                         .instruction_by = std::string(instruction.empty() ? "" : kByComment),
                         .kind = kind,
                         .title = Title(),
                         .source = file_.source,
                         .path = file_.path,
                         .line = line,
                         .license = file_.license});
  }

  void TakeBlock(const PagePart& part) {
    const bool fits = part.text.size() <= kLargestBlock && std::ranges::count(part.text, '\n') >= kFewestBlockLines;
    if (!fits || !IsOurLanguage(part)) return;
    Add(SnippetKind::kBlock, part.text, part.line, InstructionOfWords(Title() + ": " + paragraph_));
  }

  void AddToSection(const PagePart& part) {
    if (section_.empty()) section_line_ = part.line;
    if (!section_.empty()) section_ += "\n";
    section_ += part.text;
    if (section_.size() >= kLargestSection) FlushSection();
  }

  // Whole lines, as many as fit.
  void FlushSection() {
    while (section_.size() > kLargestSection) {
      const size_t end = section_.rfind('\n', kLargestSection - 1);
      const size_t bytes = end == std::string::npos || end == 0 ? section_.size() : end + 1;
      AddSection(section_.substr(0, bytes));
      section_.erase(0, bytes);
    }
    AddSection(std::move(section_));
    section_.clear();
  }

  void AddSection(std::string text) {
    if (text.size() >= kFewestSectionBytes) Add(SnippetKind::kSection, std::move(text), section_line_, "");
  }

  const Snippet& file_;
  std::map<int, std::string> headings_;  // by level
  std::string paragraph_;                // the last one before a block
  std::string section_;
  int64_t section_line_ = 1;
  std::vector<Snippet> snippets_;
};

}  // namespace

std::vector<Snippet> CutPage(const Snippet& file, const std::vector<PagePart>& page) {
  return PageCutter(file).Run(page);
}

}  // namespace gemmsmith
