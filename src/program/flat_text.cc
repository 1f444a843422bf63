#include "program/flat_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "program/flat_names.h"

namespace gemmsmith {

namespace {

constexpr int kMostWrittenLines = 6;

int CountLines(std::string_view text) { return int(std::count(text.begin(), text.end(), '\n')); }

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A line's code with other names. Texts in quotes stay: they are PTX.
std::string Renamed(std::string_view code, int vocabulary) {
  std::string renamed;
  bool is_quoted = false;
  for (size_t at = 0; at < code.size();) {
    if (code[at] == '"') is_quoted = !is_quoted;
    if (is_quoted || !IsNamePart(code[at])) {
      renamed += code[at++];
      continue;
    }
    size_t end = at;
    while (end < code.size() && IsNamePart(code[end])) ++end;
    renamed += FlatName(code.substr(at, end - at), vocabulary);
    at = end;
  }
  return renamed;
}

}  // namespace

FlatIndex FlatIndex::operator*(int by) const {
  FlatIndex product = *this;
  product.factor *= by, product.offset *= by;
  return product;
}

FlatIndex FlatIndex::operator+(int by) const {
  FlatIndex sum = *this;
  sum.offset += by;
  return sum;
}

std::string FlatIndex::Print() const {
  if (factor == 0) return fmt::format("{}", offset);
  std::string text = factor == 1 ? name : fmt::format("{} * {}", factor, name);
  if (offset != 0) text += fmt::format(" + {}", offset);
  return text;
}

std::string FlatIndex::After(std::string_view text) const {
  return factor == 0 && offset == 0 ? std::string(text) : fmt::format("{} + {}", text, Print());
}

std::string Element(std::string_view array, std::initializer_list<FlatSubscript> subscripts) {
  std::string text(array);
  for (const FlatSubscript& subscript : subscripts)
    if (subscript.extent > 1) text += fmt::format("[{}]", subscript.index.Print());
  return text;
}

std::string Declared(std::string_view array, std::initializer_list<int> extents) {
  std::string text(array);
  for (const int extent : extents)
    if (extent > 1) text += fmt::format("[{}]", extent);
  return text;
}

void FlatText::Add(std::string_view lines, const std::map<std::string, std::string>& values) {
  for (size_t at = 0; at < lines.size();) {
    if (lines[at] != '$') {
      text_ += lines[at++];
      continue;
    }
    const bool is_braced = lines[++at] == '{';
    at += is_braced;
    size_t end = at;
    while (end < lines.size() && IsNamePart(lines[end])) ++end;
    const auto value = values.find(std::string(lines.substr(at, end - at)));
    GEMMSMITH_CHECK(value != values.end(), "no value for ${}", lines.substr(at, end - at));
    text_ += value->second;
    at = end + is_braced;
  }
  if (!text_.ends_with('\n')) text_ += '\n';
}

void FlatText::Loop(const std::string& name, int count, const Body& body, bool declares) {
  FlatText one(style_);
  body(one, count == 1 ? FlatIndex(0) : FlatIndex(name));
  if (count == 1) return Append(one, 0);
  if (style_.writes_out && !declares && count * CountLines(one.text_) <= kMostWrittenLines) {
    for (int i = 0; i < count; ++i) body(*this, i);
    return;
  }
  text_ += "#pragma unroll\n";
  Block(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, count), [&](FlatText& text) { text.Append(one, 0); });
}

void FlatText::Block(std::string_view head, const std::function<void(FlatText& text)>& body) {
  FlatText inner(style_);
  body(inner);
  const bool is_short = CountLines(inner.text_) == 1;
  text_ += fmt::format("{}{}\n", head, is_short ? "" : " {");
  Append(inner, 2);
  if (!is_short) text_ += "}\n";
}

void FlatText::Either(const std::function<void(FlatText& text)>& first,
                      const std::function<void(FlatText& text)>& second) {
  (style_.is_reordered ? second : first)(*this);
  (style_.is_reordered ? first : second)(*this);
}

void FlatText::Append(const FlatText& inner, int indent) {
  for (const std::string_view line : Split(std::string_view(inner.text_), '\n'))
    if (!line.empty()) text_ += std::string(line.starts_with('#') ? 0 : size_t(indent), ' ').append(line).append("\n");
}

std::string FlatText::Take() && {
  std::string text;
  for (std::string_view line : Split(std::string_view(text_), '\n')) {
    const size_t comment = line.find("//");
    std::string_view code = line.substr(0, comment);
    while (!style_.has_comments && code.ends_with(' ')) code.remove_suffix(1);
    if (comment != line.npos && !style_.has_comments && code.empty()) continue;
    text += Renamed(code, style_.names);
    if (comment != line.npos && style_.has_comments) text += line.substr(comment);
    text += '\n';
  }
  text.erase(0, text.find_first_not_of('\n'));
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace gemmsmith
