#include "corpus/clean/author_words.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "base/trimmed.h"

namespace gemmsmith {

namespace {

constexpr size_t kLongestInstruction = 600, kFewestWordsOfInstruction = 3;
constexpr double kLeastLetters = 0.6;

// Words of comments that tell nothing of the code.
constexpr std::string_view kNoInstruction[] = {"Copyright",          "SPDX",   "Redistribution", "TODO", "FIXME",
                                               "clang-format",       "NOLINT", "namespace",      "#if",  "#endif",
                                               "All rights reserved"};
// Where a comment turns from what it is to its parts.
constexpr std::string_view kParts[] = {"@param", "\\param", "@tparam", "\\tparam", "@return", "\\return"};

// Without comment signs at both ends and doxygen's words.
std::string_view WordsOfLine(std::string_view line) {
  line = Trimmed(line);
  for (const std::string_view sign : {"///<", "///", "//!", "//", "/**", "/*!", "/*", "*/", "*"})
    if (line.starts_with(sign)) {
      line = Trimmed(line.substr(sign.size()));
      break;
    }
  while (line.ends_with("*/") || line.ends_with('*')) line = Trimmed(line.substr(0, line.size() - 1));
  for (const std::string_view word : {"\\brief", "@brief", "\\file", "@file"})
    if (line.starts_with(word)) line = Trimmed(line.substr(word.size()));
  return line;
}

bool HasLetters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return std::isalnum(uint8_t(c)) != 0; });
}

bool LooksLikeCode(std::string_view text) {
  const auto letters = std::ranges::count_if(text, [](char c) { return std::isalpha(uint8_t(c)) || c == ' '; });
  return double(letters) < kLeastLetters * double(text.size()) || text.ends_with(';') || text.ends_with('{') ||
         text.find("; ") != text.npos;
}

size_t CountWords(std::string_view text) {
  size_t words = 0;
  for (const std::string_view word : SplitWords(text))
    words += std::ranges::count_if(word, [](char c) { return std::isalpha(uint8_t(c)) != 0; }) >= 2 ? 1 : 0;
  return words;
}

}  // namespace

std::string InstructionOfWords(std::string_view words) {
  std::string text;
  for (const std::string_view word : SplitWords(words)) {
    if (text.size() + word.size() >= kLongestInstruction) break;
    text += (text.empty() ? "" : " ") + std::string(word);
  }
  const bool tells_nothing = std::ranges::any_of(
      kNoInstruction, [&](std::string_view known) { return text.find(known) != std::string::npos; });
  if (tells_nothing || LooksLikeCode(text) || CountWords(text) < kFewestWordsOfInstruction) return "";
  return text;
}

std::string InstructionIn(std::string_view comment) {
  std::string words;
  for (const std::string_view raw : Split(comment, '\n')) {
    const std::string_view line = WordsOfLine(raw);
    if (std::ranges::any_of(kParts, [&](std::string_view part) { return line.starts_with(part); })) break;
    if (HasLetters(line)) words += std::string(line) + " ";
  }
  return InstructionOfWords(words);
}

}  // namespace gemmsmith
