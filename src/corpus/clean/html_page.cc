#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include "base/lower_case.h"
#include "base/text.h"
#include "corpus/clean/page.h"

namespace gemmsmith {

namespace {

// Elements whose content is no part of the page.
constexpr std::string_view kLeftOut[] = {"script", "style", "nav", "head", "svg", "noscript", "template", "button"};
// Elements that end a paragraph.
constexpr std::string_view kOwnLines[] = {"p",  "div", "li",      "ul",      "ol",    "table",  "tr",         "section",
                                          "br", "hr",  "article", "main",    "td",    "th",     "blockquote", "body",
                                          "dd", "dt",  "dl",      "details", "aside", "header", "footer"};

template <class Names>
bool IsAmong(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string Utf8Of(uint32_t code) {
  if (code == 0xa0) return " ";
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return "\xef\xbf\xbd";
  if (code < 0x80) return std::string(1, char(code));
  std::string bytes;
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr int kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  bytes += char(kFirst[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) bytes += char(0x80 | ((code >> (6 * i)) & 0x3f));
  return bytes;
}

// "amp", "#38", "#x26"; nullopt: no entity.
std::optional<std::string> EntityText(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {{"lt", "<"},    {"gt", ">"},   {"amp", "&"},
                                                                      {"quot", "\""}, {"apos", "'"}, {"nbsp", " "}};
  for (const auto& [known, text] : kKnown)
    if (name == known) return std::string(text);
  if (name.size() < 2 || name.size() > 8 || name[0] != '#') return std::nullopt;
  const bool is_hex = name[1] == 'x' || name[1] == 'X';
  uint32_t code = 0;
  for (const char c : name.substr(is_hex ? 2 : 1)) {
    if (!(is_hex ? std::isxdigit(uint8_t(c)) : std::isdigit(uint8_t(c)))) return std::nullopt;
    code = code * (is_hex ? 16 : 10) + uint32_t(std::isdigit(uint8_t(c)) ? c - '0' : (std::tolower(c) - 'a' + 10));
  }
  return Utf8Of(code);
}

std::string WithEntities(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t end = text[0] == '&' ? text.substr(0, 12).find(';') : text.npos;
    const std::optional<std::string> entity = end == text.npos ? std::nullopt : EntityText(text.substr(1, end - 1));
    plain += entity ? *entity : std::string(1, text[0]);
    text.remove_prefix(entity ? end + 1 : 1);
  }
  return plain;
}

struct Tag {
  std::string name;  // lower case
  bool is_end = false;
  std::string_view attributes;
};

Tag ParseTag(std::string_view inside) {
  Tag tag;
  tag.is_end = inside.starts_with('/');
  if (tag.is_end) inside.remove_prefix(1);
  const size_t end =
      size_t(std::ranges::find_if_not(inside, [](char c) { return std::isalnum(uint8_t(c)) != 0; }) - inside.begin());
  for (const char c : inside.substr(0, end)) tag.name += char(std::tolower(uint8_t(c)));
  tag.attributes = inside.substr(end);
  return tag;
}

// Generators end headings with a link to themselves: a pilcrow or '#'.
std::string WithoutAnchor(std::string_view heading) {
  for (const std::string_view sign : {"\xc2\xb6", "#", " "})
    while (heading.ends_with(sign)) heading.remove_suffix(sign.size());
  return std::string(heading);
}

constexpr std::string_view kTagSpaces = " \t\n\f";

void SkipAny(std::string_view& text, std::string_view chars) {
  text.remove_prefix(std::min(text.find_first_not_of(chars), text.size()));
}

std::string_view TakeUntil(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

// Behind the name of an attribute: what "=" gives it, without quotes.
std::string_view TakeValue(std::string_view& attributes) {
  SkipAny(attributes, kTagSpaces);
  if (!attributes.starts_with('=')) return "";
  attributes.remove_prefix(1);
  SkipAny(attributes, kTagSpaces);
  if (!attributes.starts_with('"') && !attributes.starts_with('\'')) return TakeUntil(attributes, kTagSpaces);
  const std::string_view quote = attributes.substr(0, 1);
  attributes.remove_prefix(1);
  const std::string_view value = TakeUntil(attributes, quote);
  attributes.remove_prefix(std::min<size_t>(1, attributes.size()));
  return value;
}

// Empty where the tag has no such attribute.
std::string_view AttributeOf(std::string_view attributes, std::string_view name) {
  for (;;) {
    SkipAny(attributes, " \t\n\f/");
    if (attributes.empty()) return "";
    const std::string_view key = TakeUntil(attributes, " \t\n\f/=");
    const std::string_view value = TakeValue(attributes);
    if (Lowered(key) == name) return value;
  }
}

std::string LanguageName(std::string_view text) {
  const auto is_of_name = [](char c) { return std::isalnum(uint8_t(c)) || c == '+'; };
  return Lowered(text.substr(0, size_t(std::ranges::find_if_not(text, is_of_name) - text.begin())));
}

// "cpp" in data-lang="cpp" and class="language-cpp", "c++" in class="highlight-c++ notranslate".
std::string LanguageOfTag(std::string_view attributes) {
  if (std::string language = LanguageName(AttributeOf(attributes, "data-lang")); !language.empty()) return language;
  const std::vector<std::string_view> classes = SplitWords(AttributeOf(attributes, "class"));
  for (const std::string_view mark : {"language-", "highlight-source-", "highlight-", "lang-", "brush:"})
    for (const std::string_view name : classes)
      if (name.size() > mark.size() && name.starts_with(mark)) return LanguageName(name.substr(mark.size()));
  return "";
}

// "<svg/>", but not "<script src=a/>".
bool IsEmptyElement(std::string_view attributes) {
  if (!attributes.ends_with('/')) return false;
  attributes.remove_suffix(1);
  return attributes.empty() || attributes.find_last_of(" \t\n\f\"'") == attributes.size() - 1;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view page) : page_(page) {}

  std::vector<PagePart> Run() {
    while (at_ < page_.size()) {
      if (page_.substr(at_).starts_with("<!--"))
        Advance(After("-->", at_ + 4));
      else if (page_[at_] == '<' && at_ + 1 < page_.size() &&
               (std::isalpha(uint8_t(page_[at_ + 1])) || page_[at_ + 1] == '/' || page_[at_ + 1] == '!'))
        TakeTag();
      else
        TakeText();
    }
    Flush();
    return std::move(parts_);
  }

 private:
  size_t After(std::string_view words, size_t from) const {
    const size_t found = page_.find(words, from);
    return found == page_.npos ? page_.size() : found + words.size();
  }

  // Behind the closing tag of an element, or the page's end.
  size_t BehindEnd(const std::string& name, size_t from) const {
    for (size_t at = from; (at = page_.find("</", at)) != page_.npos; at += 2)
      if (ParseTag(page_.substr(at + 1, name.size() + 2)).name == name) return After(">", at);
    return page_.size();
  }

  void Advance(size_t to) {
    line_ += std::ranges::count(page_.substr(at_, to - at_), '\n');
    at_ = to;
  }

  void TakeText() {
    const size_t end = std::min(page_.find('<', at_ + 1), page_.size());
    if (text_.empty()) text_line_ = line_;
    text_ += WithEntities(page_.substr(at_, end - at_));
    Advance(end);
  }

  // Quotes in a tag may hold a '>'.
  size_t TagEnd() const {
    char quote = 0;
    constexpr size_t kLongestTag = 4096;
    for (size_t i = at_ + 1; i < std::min(page_.size(), at_ + kLongestTag); ++i) {
      const char c = page_[i];
      if (quote != 0 ? c == quote : (c == '"' || c == '\''))
        quote = quote != 0 ? 0 : c;
      else if (quote == 0 && c == '>')
        return i;
    }
    return std::min(page_.find('>', at_), page_.size());
  }

  void TakeTag() {
    const size_t end = TagEnd();
    const Tag tag = ParseTag(page_.substr(at_ + 1, end - at_ - 1));
    const size_t behind = std::min(end + 1, page_.size());
    if (!tag.is_end && IsAmong(tag.name, kLeftOut) && !IsEmptyElement(tag.attributes)) {
      Flush();
      return Advance(BehindEnd(tag.name, behind));
    }
    Advance(behind);
    TakeElement(tag);
  }

  void TakeElement(const Tag& tag) {
    if (const std::string language = tag.is_end ? "" : LanguageOfTag(tag.attributes); !language.empty())
      language_ = language;
    const bool is_heading = tag.name.size() == 2 && tag.name[0] == 'h' && tag.name[1] >= '1' && tag.name[1] <= '6';
    if (is_heading || tag.name == "pre") {
      Flush();
      heading_ = is_heading && !tag.is_end ? tag.name[1] - '0' : 0;
      in_code_ = tag.name == "pre" && !tag.is_end;
    } else if (in_code_) {
      if (tag.name == "br") text_ += "\n";
    } else if (heading_ == 0 && IsAmong(tag.name, kOwnLines)) {
      Flush();
    }
  }

  // Words with single spaces; code as it stands.
  void Flush() {
    std::string text;
    if (in_code_)
      text = text_.substr(text_.starts_with('\n') ? 1 : 0);
    else
      for (const std::string_view word : SplitWords(text_)) text += (text.empty() ? "" : " ") + std::string(word);
    while (text.ends_with('\n')) text.pop_back();
    text_.clear();
    if (text.find_first_not_of(" \t\n") == text.npos) return;
    if (heading_ > 0)
      parts_.push_back({PagePartKind::kHeading, heading_, "", WithoutAnchor(text), text_line_});
    else
      parts_.push_back({in_code_ ? PagePartKind::kCode : PagePartKind::kWords, 0, in_code_ ? language_ : "",
                        text + "\n", text_line_});
    if (in_code_) language_.clear();
  }

  const std::string_view page_;
  size_t at_ = 0;
  int64_t line_ = 1, text_line_ = 1;
  std::string text_, language_;
  int heading_ = 0;
  bool in_code_ = false;
  std::vector<PagePart> parts_;
};

}  // namespace

std::vector<PagePart> ParseHtml(std::string_view page) { return HtmlReader(page).Run(); }

}  // namespace gemmsmith
