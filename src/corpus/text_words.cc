#include "corpus/text_words.h"

namespace gemmsmith {

const std::string_view kPieceRegex =
    "[ !-/:-@\\[-\\^`{-~]?[A-Za-z_][A-Za-z0-9_]*(?:[^A-Za-z0-9_ \\t\\n\\r]+(?:\\n[ \\t\\n\\r]*)?)?"
    "| ?[0-9]"
    "| ?[^A-Za-z0-9_ \\t\\n\\r]+(?:\\n[ \\t\\n\\r]*)?"
    "|[\\n\\r][ \\t\\n\\r]*"
    "|[ \\t]+";

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool BeginsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsOfName(char c) { return BeginsName(c) || IsDigit(c); }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool EndsLine(char c) { return c == '\n' || c == '\r'; }
bool IsWhite(char c) { return IsBlank(c) || EndsLine(c); }
bool IsSign(char c) { return !IsOfName(c) && !IsWhite(c); }
bool LeadsName(char c) { return c == ' ' || (c > ' ' && c < 0x7f && IsSign(c)); }

template <class Is>
size_t EndOfRun(std::string_view text, size_t at, Is is) {
  while (at < text.size() && is(text[at])) ++at;
  return at;
}

// Signs that stand at `at`, and the end of the line after them with the next indent.
size_t EndOfSigns(std::string_view text, size_t at) {
  const size_t end = EndOfRun(text, at, IsSign);
  return end > at && end < text.size() && text[end] == '\n' ? EndOfRun(text, end, IsWhite) : end;
}

size_t PieceSize(std::string_view text) {
  const size_t name = LeadsName(text[0]) ? 1 : 0, first = text[0] == ' ' ? 1 : 0;
  if (const size_t end = EndOfRun(text, name, IsOfName); end > name && BeginsName(text[name]))
    return EndOfSigns(text, end);
  if (text.size() > first && IsDigit(text[first])) return first + 1;
  if (const size_t end = EndOfSigns(text, first); end > first) return end;
  return EndsLine(text[0]) ? EndOfRun(text, 0, IsWhite) : EndOfRun(text, 0, IsBlank);
}

}  // namespace

std::string_view TakePiece(std::string_view& text) {
  const std::string_view piece = text.substr(0, PieceSize(text));
  text.remove_prefix(piece.size());
  return piece;
}

}  // namespace gemmsmith
