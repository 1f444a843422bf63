// Words: splitting, strict numbers, counts, and the nearest right word for a wrong one.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gemmsmith {

std::vector<std::string_view> SplitWords(std::string_view text);             // by white space
std::vector<std::string_view> Split(std::string_view text, char separator);  // keeps empty fields
// Refuses a temporary: the views would dangle.
template <std::same_as<std::string> Temporary>
void SplitWords(Temporary&& text) = delete;
template <std::same_as<std::string> Temporary>
void Split(Temporary&& text, char separator) = delete;
// The lines of a list that say something, numbered from 1, without what stands behind a '#'.
struct ListLine {
  int number;
  std::string_view text;
};
std::vector<ListLine> ListLines(std::string_view text);
template <std::same_as<std::string> Temporary>
void ListLines(Temporary&& text) = delete;
std::string Join(std::span<const std::string> words, std::string_view separator);
// Knows ASCII control characters only; bytes above 0x7f are part of a character.
inline bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
// Makes foreign text safe for a terminal: control characters become question marks.
std::string WithoutControls(std::string_view text);
// The whole text must be one finite decimal number in range: an optional minus and digits; no plus, no spaces, no
// exponent unless the format is general.
std::optional<long long> ParseInteger(std::string_view text);
std::optional<double> ParseDouble(std::string_view text, std::chars_format format = std::chars_format::fixed);
std::string DateText(int64_t unix_ms);                     // "2026-11-21", UTC
std::string CountText(int64_t count);                      // "12,345"
std::string Plural(int64_t count, std::string_view word);  // "1 plan", "1,200 plans"
// The known word with the smallest edit distance, if any is within a third of its length (or one letter); for "did you
// mean".
std::optional<std::string> NearestWord(std::string_view word, std::span<const std::string_view> known);

}  // namespace gemmsmith
