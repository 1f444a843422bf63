#include "corpus/clean/page.h"

#include <gtest/gtest.h>

#include "corpus/clean/page_snippets.h"

namespace gemmsmith {
namespace {

using Parts = std::vector<PagePart>;

PagePart Heading(int level, const char* text, int64_t line) { return {PagePartKind::kHeading, level, "", text, line}; }
PagePart Paragraph(const char* text, int64_t line) { return {PagePartKind::kWords, 0, "", text, line}; }
PagePart Code(const char* language, const char* text, int64_t line) {
  return {PagePartKind::kCode, 0, language, text, line};
}

TEST(MarkdownTest, HeadingsWordsAndCode) {
  EXPECT_EQ(ParseMarkdown(
                "# Title #\nwords\nmore\n\n```C++ {.x}\nint a;\n\n# no heading\n```\n## Sub\n    indented\n\n    on\n"),
            (Parts{Heading(1, "Title", 1), Paragraph("words\nmore\n", 2), Code("c++", "int a;\n\n# no heading\n", 6),
                   Heading(2, "Sub", 10), Code("", "indented\n\non\n", 11)}));
}

TEST(MarkdownTest, UnderlinedHeadings) {
  EXPECT_EQ(ParseMarkdown("Title\n=====\n\nSub\n---\nwords\n\n---\n"),
            (Parts{Heading(1, "Title", 1), Heading(2, "Sub", 4), Paragraph("words\n", 6), Paragraph("---\n", 8)}));
}

TEST(MarkdownTest, FencesEndWithTheirOwnSign) {
  EXPECT_EQ(ParseMarkdown("````\n```\n````\n~~~cu\n```\n~~~\n  ```\n  x\n  ```\n```\nopen"),
            (Parts{Code("", "```\n", 2), Code("cu", "```\n", 5), Code("", "x\n", 8), Code("", "open\n", 11)}));
}

TEST(MarkdownTest, ListsAreNoCode) {
  EXPECT_EQ(ParseMarkdown("- item\n\n    its further words\n"),
            (Parts{Paragraph("- item\n", 1), Paragraph("    its further words\n", 3)}));
}

TEST(HtmlTest, HeadingsWordsAndCode) {
  EXPECT_EQ(
      ParseHtml("<html><head><title>x</title></head><body><nav>menu</nav>\n<h1>A &amp; B<a href='#'>\xc2\xb6</a></h1>\n"
                "<p>Some <b>bold</b>\n words.</p><script>if (a<b) {}</script>\n"
                "<div class=\"highlight-c++ x\"><pre><span>int</span> a&lt;b&gt;;\n  c &#x26;&#38; "
                "d;\n</pre></div><p>End</body>"),
      (Parts{Heading(1, "A & B", 2), Paragraph("Some bold words.\n", 3), Code("c++", "int a<b>;\n  c && d;\n", 5),
             Paragraph("End\n", 7)}));
}

TEST(HtmlTest, ClosingTagsMayBeCapital) {
  EXPECT_EQ(ParseHtml("<SCRIPT>a</SCRIPT><p>one<script>b</Script >\n<PRE>\nint a;\n</PRE><p>two"),
            (Parts{Paragraph("one\n", 1), Code("", "int a;\n", 2), Paragraph("two\n", 4)}));
}

TEST(HtmlTest, LeftOutElementsEndWithTheirOwnName) {
  EXPECT_EQ(ParseHtml("<head><title>a</title></header></head><svg class=x /><p>one<svg/>"),
            (Parts{Paragraph("one\n", 1)}));
}

TEST(HtmlTest, LanguagesAreInClassesAndDataLangOnly) {
  const auto language = [](const std::string& attributes) {
    return ParseHtml("<pre " + attributes + ">int a;</pre>").at(0).language;
  };
  EXPECT_EQ(language("class='x language-cpp'"), "cpp");
  EXPECT_EQ(language("CLASS = language-CUDA"), "cuda");
  EXPECT_EQ(language("class=\"highlight highlight-source-c++\""), "c++");
  EXPECT_EQ(language("data-lang=\"Cpp\""), "cpp");
  EXPECT_EQ(language("class=\"brush:cpp\" data-x"), "cpp");
  for (const char* other : {"title='language-python'", "data-class=\"lang-python\"", "class='my-language-python'",
                            "id=highlight-python class", "=language-python", "class='", "href='x\" class=lang-python'"})
    EXPECT_EQ(language(other), "") << other;
}

TEST(HtmlTest, BrokenPagesEnd) {
  EXPECT_EQ(ParseHtml("<p class=\"open>words").size(), 1u);
  EXPECT_EQ(ParseHtml("a < b &unknown; &#xZ; &"), (Parts{Paragraph("a < b &unknown; &#xZ; &\n", 1)}));
  EXPECT_TRUE(ParseHtml("<!-- never closed").empty());
  EXPECT_TRUE(ParseHtml("<script>never closed").empty());
  std::string hostile;
  for (int i = 0; i < 100000; ++i) hostile += "<a \"";
  EXPECT_LE(ParseHtml(hostile).size(), 1u);
}

TEST(PageSnippetsTest, SectionsAndBlocksWithTheirHeadings) {
  const std::string page =
      "# Guide\nWords about everything in this guide of ours.\n## Copies\nA tile is copied by one thread:\n"
      "```cuda\n__global__ void k() {\n  a();\n  b();\n}\n```\n```python\nimport x\nimport y\nimport z\nimport "
      "a\n```\n## End\n";
  const std::vector<Snippet> snippets =
      CutPage({.text = page, .source = "s", .path = "g.md", .license = "MIT"}, ParseMarkdown(page));
  ASSERT_EQ(snippets.size(), 3u);
  EXPECT_EQ(snippets[0].kind, SnippetKind::kSection);
  EXPECT_EQ(snippets[0].title, "Guide");
  EXPECT_EQ(snippets[1].kind, SnippetKind::kBlock);
  EXPECT_EQ(snippets[1].title, "Guide > Copies");
  EXPECT_EQ(snippets[1].instruction, "Guide > Copies: A tile is copied by one thread:");
  EXPECT_EQ(snippets[1].text, "__global__ void k() {\n  a();\n  b();\n}\n");
  EXPECT_EQ(snippets[1].line, 6);
  EXPECT_EQ(snippets[2].kind, SnippetKind::kSection);
  EXPECT_NE(snippets[2].text.find("import x"), std::string::npos);
}

TEST(PageSnippetsTest, LongSectionsAreCutAtLines) {
  std::string page;
  for (int i = 0; i < 1000; ++i) page += "line " + std::to_string(i) + "\n";
  std::string joined;
  const std::vector<Snippet> snippets = CutPage({.path = "g.md"}, ParseMarkdown(page));
  EXPECT_GT(snippets.size(), 1u);
  for (const Snippet& snippet : snippets) {
    EXPECT_LE(snippet.text.size(), 6u << 10);
    joined += snippet.text;
  }
  EXPECT_EQ(joined, page);
}

}  // namespace
}  // namespace gemmsmith
