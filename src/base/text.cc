#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <numeric>
#include <system_error>

namespace gemmsmith {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t substituted = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kWhiteSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kWhiteSpace, end);
  }
  return words;
}

std::vector<ListLine> ListLines(std::string_view text) {
  std::vector<ListLine> lines;
  int number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kWhiteSpace) != line.npos) lines.push_back({number, line});
  }
  return lines;
}

std::string WithoutControls(std::string_view text) {
  const auto byte_at = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t{0}; };
  std::string clean;
  for (size_t i = 0; i < text.size(); ++i) {
    // U+0080 to U+009F, as two bytes, are controls too.
    const bool is_pair = byte_at(i) == 0xc2 && byte_at(i + 1) >= 0x80 && byte_at(i + 1) < 0xa0;
    clean += is_pair || IsControl(text[i]) ? '?' : text[i];
    i += is_pair;
  }
  return clean;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t end = text.find(separator);
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string> words, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined.append(separator);
    joined.append(words[i]);
  }
  return joined;
}

std::optional<long long> ParseInteger(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDouble(std::string_view text, std::chars_format format) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string CountText(int64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string Plural(int64_t count, std::string_view word) {
  return fmt::format("{} {}{}", CountText(count), word, count == 1 ? "" : "s");
}

std::optional<std::string> NearestWord(std::string_view word, std::span<const std::string_view> known) {
  std::optional<std::string> nearest;
  size_t smallest = std::min(std::max<size_t>(1, word.size() / 3), std::max<size_t>(word.size(), 1) - 1) + 1;
  for (std::string_view candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < smallest) smallest = distance, nearest = std::string(candidate);
  }
  return nearest;
}

std::string DateText(int64_t unix_ms) {
  const time_t seconds = unix_ms / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace gemmsmith
