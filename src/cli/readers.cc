// Numbers and texts, and what is said of a word that is not known.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/sound_trial.h"
#include "base/text.h"

namespace gemmsmith {

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  if (const std::optional<std::string> nearest = NearestWord(word, known)) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  std::string list;
  for (size_t i = 0; i < known.size(); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == known.size() ? " and " : ", ", known[i]);
  }
  return fmt::format("; there {} {}", known.size() == 1 ? "is" : "are", list);
}

Status NoSuchWord(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  return InvalidArgument(fmt::format("'{}' is no {}{}", word, what, DidYouMean(word, known)));
}

Result<long long> ReadIntegerIn(std::string_view text, long long low, long long high) {
  const std::optional<long long> value = ParseInteger(text);
  if (value && *value >= low && *value <= high) return *value;
  return InvalidArgument(fmt::format("'{}' is not a whole number from {} to {}", text, low, high));
}

Result<int> ReadCount(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 1, 1'000'000'000));
  return int(value);
}

Result<int> ReadOrdinal(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 0, 1023));
  return int(value);
}

Result<uint64_t> ReadSeed(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 0, INT64_MAX));
  return uint64_t(value);
}

Result<int> ReadLeadingDimension(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 1, INT32_MAX));
  return int(value);
}

Result<double> ReadPositiveSeconds(std::string_view text) {
  const std::optional<double> value = ParseDouble(text);
  if (value && *value > 0 && *value <= 1e9) return *value;
  return InvalidArgument(fmt::format("'{}' is not a number of seconds above 0", text));
}

Result<std::filesystem::path> ReadPath(std::string_view text) {
  if (text.empty()) return InvalidArgument("an empty path");
  return std::filesystem::path(text);
}

Result<ExperienceChoice> ReadExperienceChoice(const std::vector<RecordSource>& words) {
  if (words.empty()) return ExperienceChoice();
  if (words == kNoExperience) return ExperienceChoice(std::in_place);
  if (std::ranges::find(words, kNoExperience.front()) == words.end()) return ExperienceChoice(words);
  return InvalidArgument("--experience none goes without other records");
}

Result<RecordSource> ReadRecordSource(std::string_view text) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(std::filesystem::path path, ReadPath(word));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::string> ReadText(std::string_view text) {
  if (text.empty()) return InvalidArgument("an empty text");
  return std::string(text);
}

Result<std::string> ReadName(std::string_view text) {
  if (!IsPrintable(text)) return InvalidArgument("a name without control characters is needed");
  return ReadText(text);
}

Result<std::vector<std::string>> ReadNames(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view word : Split(text, ',')) {
    if (word.empty()) return InvalidArgument(fmt::format("'{}' has an empty name", text));
    if (std::find(names.begin(), names.end(), word) == names.end()) names.emplace_back(word);
  }
  return names;
}

}  // namespace gemmsmith
