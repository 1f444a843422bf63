#include "corpus/retrieve/search_terms.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/lower_case.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kSilent[] = {
    "a",    "an",    "and",   "any",  "are",   "as",    "at",   "be",    "been",  "but", "by",  "can", "could", "did",
    "do",   "does",  "for",   "from", "get",   "had",   "has",  "have",  "how",   "i",   "if",  "in",  "into",  "is",
    "it",   "its",   "may",   "me",   "my",    "no",    "not",  "of",    "on",    "or",  "our", "so",  "than",  "that",
    "the",  "their", "them",  "then", "there", "these", "they", "this",  "those", "to",  "was", "we",  "were",  "what",
    "when", "where", "which", "who",  "why",   "will",  "with", "would", "you",   "your"};

bool IsWordChar(char c) { return std::isalnum(uint8_t(c)) || c == '_' || uint8_t(c) >= 0x80; }

// "tests" and "tested" are "test", "compiling" and "compile" are "compil".
std::string Stem(std::string word) {
  const auto drop = [&](std::string_view ending, size_t least) {
    if (word.size() < least + ending.size() || !word.ends_with(ending)) return false;
    word.resize(word.size() - ending.size());
    return true;
  };
  if (std::ranges::any_of(word, [](char c) { return std::isdigit(uint8_t(c)) != 0; })) return word;
  if (drop("ies", 2))
    word += 'y';
  else if (!word.ends_with("ss") && !word.ends_with("us"))
    drop("s", 3);
  const bool is_tense = drop("ing", 3) || drop("ed", 3);
  if (is_tense && word.size() > 3 && word.back() == word[word.size() - 2] && word.back() != 's' && word.back() != 'l')
    word.pop_back();
  if (word.size() > 3 && word.ends_with('i')) word.back() = 'y';
  drop("e", 3);
  return word;
}

// The parts of fooBar_baz and HTTPServer.
std::vector<std::string_view> PartsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  const auto cut = [&](size_t end) {
    if (end > begin) parts.push_back(name.substr(begin, end - begin));
    begin = end;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const auto is_upper = [&](size_t at) { return at < name.size() && std::isupper(uint8_t(name[at])); };
    const auto is_lower = [&](size_t at) { return at < name.size() && std::islower(uint8_t(name[at])); };
    if (name[i] == '_') {
      cut(i);
      begin = i + 1;
    } else if (i > begin && is_upper(i) && (is_lower(i - 1) || (is_upper(i - 1) && is_lower(i + 1)))) {
      cut(i);
    }
  }
  cut(name.size());
  return parts;
}

void AddTerm(std::string_view word, std::vector<std::string>& terms) {
  std::string lower = Lowered(word);
  if (std::ranges::find(kSilent, lower) == std::end(kSilent)) terms.push_back(Stem(std::move(lower)));
}

}  // namespace

std::vector<std::string> SearchTerms(std::string_view text) {
  std::vector<std::string> terms;
  while (!text.empty()) {
    const size_t size = size_t(std::ranges::find_if_not(text, IsWordChar) - text.begin());
    const std::string_view word = text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
    const std::vector<std::string_view> parts = PartsOf(word);
    for (const std::string_view part : parts) AddTerm(part, terms);
    if (parts.size() > 1) terms.push_back(Lowered(word));
  }
  return terms;
}

}  // namespace gemmsmith
