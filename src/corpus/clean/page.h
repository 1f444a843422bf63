// A page of documentation, Markdown or HTML, as its headings, its words and its blocks of code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gemmsmith {

enum class PagePartKind : uint8_t { kHeading, kWords, kCode };

struct PagePart {
  PagePartKind kind = PagePartKind::kWords;
  int level = 0;         // of a heading, from 1
  std::string language;  // of code, lower case; empty: not told
  std::string text;      // of words a paragraph or a list; lines end with \n, the last one too, but a heading's
  int64_t line = 1;      // where it begins
  bool operator==(const PagePart&) const = default;
};

std::vector<PagePart> ParseMarkdown(std::string_view page);
// Scripts, styles and navigation are left out.
std::vector<PagePart> ParseHtml(std::string_view page);

}  // namespace gemmsmith
