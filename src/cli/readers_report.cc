// What tables are made of and how they are written.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "problem/models.h"
#include "report/pairs.h"

namespace gemmsmith {

namespace {

constexpr std::array<std::string_view, 3> kUnitWords = {"ns", "us", "ms"};
constexpr std::array<std::string_view, 3> kAgreementGroupWords = {"class", "time", "power"};
constexpr std::array<std::string_view, 4> kFormatWords = {"text", "markdown", "csv", "json"};

}  // namespace

Result<std::string> ReadPlanAxis(std::string_view text) {
  const std::vector<std::string_view>& known = PlanAxes();
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  return NoSuchWord("axis of a plan", text, known);
}

Result<std::vector<std::string>> ReadPairGroups(std::string_view text) {
  const std::vector<std::string_view>& known = PairGroups();
  std::vector<std::string> groups;
  for (const std::string_view word : Split(text, ',')) {
    if (std::find(known.begin(), known.end(), word) == known.end()) return NoSuchWord("group", word, known);
    if (std::find(groups.begin(), groups.end(), word) == groups.end()) groups.emplace_back(word);
  }
  return groups;
}

Result<AgreementGroup> ReadAgreementGroup(std::string_view text) {
  if (const std::optional<AgreementGroup> group = ParseAgreementGroup(text)) return *group;
  return NoSuchWord("group", text, kAgreementGroupWords);
}

Result<std::string> ReadModelName(std::string_view text) {
  std::vector<std::string_view> known;
  for (const ModelProduct& row : ModelProducts())
    if (known.empty() || known.back() != row.model) known.push_back(row.model);
  if (std::ranges::find(known, text) != known.end()) return std::string(text);
  return NoSuchWord("model", text, known);
}

Result<std::map<std::string, std::string>> ReadColumnNames(std::string_view text) {
  std::map<std::string, std::string> names;
  for (const std::string_view word : Split(text, ',')) {
    const std::vector<std::string_view> sides = Split(word, '=');
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty())
      return InvalidArgument(fmt::format("'{}' is not THEIRS=OURS, as in heuristic_nn=lt_heuristic_nn", word));
    names[std::string(sides[0])] = std::string(sides[1]);
  }
  return names;
}

Result<double> ReadUnitNs(std::string_view text) {
  if (text == "ns") return 1.0;
  if (text == "us") return 1e3;
  if (text == "ms") return 1e6;
  return NoSuchWord("unit", text, kUnitWords);
}

Result<ReportFormat> ReadReportFormat(std::string_view text) {
  for (size_t i = 0; i < kFormatWords.size(); ++i)
    if (text == kFormatWords[i]) return ReportFormat(i);
  return NoSuchWord("format", text, kFormatWords);
}

Result<int> ReadLivePort(std::string_view text) {
  const Result<long long> value = ReadIntegerIn(text, 0, 65535);
  if (!value.ok())
    return InvalidArgument(fmt::format("'{}' is no port: 0 to 65535, or nothing for {}", text, kLivePort));
  return int(*value);
}

}  // namespace gemmsmith
