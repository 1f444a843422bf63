#include "program/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/text.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

Result<int> ParseValue(const Axis& axis, std::string_view text) {
  if (!axis.words.empty()) {
    const auto word = std::find(axis.words.begin(), axis.words.end(), text);
    if (word != axis.words.end()) return axis.values[word - axis.words.begin()];
  } else if (const std::optional<long long> value = ParseInteger(text)) {
    if (std::find(axis.values.begin(), axis.values.end(), *value) != axis.values.end()) return int(*value);
  }
  std::vector<std::string> allowed;
  for (int value : axis.live_values()) allowed.push_back(axis.Print(value));
  return InvalidArgument(fmt::format("{} cannot be '{}'; it takes {}", axis.name, text, Join(allowed, ", ")));
}

Result<const Family*> FindFamily(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Family& family : Families()) {
    if (family.name == name) return &family;
    known.push_back(family.name);
  }
  return InvalidArgument(fmt::format("a plan starts with its family ({}), not '{}'", fmt::join(known, ", "), name));
}

Status UnknownAxis(const Family& family, std::string_view key) {
  std::vector<std::string_view> known;
  for (const Axis& axis : family.axes) known.push_back(axis.name);
  std::string message = fmt::format("{} has no parameter '{}'", family.name, key);
  if (const auto nearest = NearestWord(key, known)) message += fmt::format("; did you mean '{}'?", *nearest);
  return InvalidArgument(std::move(message));
}

}  // namespace

int Axis::IndexOf(int value) const {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? -1 : int(found - values.begin());
}

int Axis::StepsBetween(int first, int second) const {
  return stride > 0 ? (std::abs(first - second) + stride - 1) / stride : std::abs(IndexOf(first) - IndexOf(second));
}

std::string Axis::Print(int value) const {
  const int index = IndexOf(value);
  GEMMSMITH_CHECK(index >= 0, "{} is no value of {}", value, name);
  return words.empty() ? fmt::format("{}", value) : std::string(words[index]);
}

int Plan::Get(std::string_view axis) const {
  const int index = GetFamily(family).IndexOf(axis);
  GEMMSMITH_CHECK(index >= 0, "no axis {}", axis);
  return values[size_t(index)];
}

void Plan::Set(std::string_view axis, int value) {
  const Family& its_family = GetFamily(family);
  const int index = its_family.IndexOf(axis);
  GEMMSMITH_CHECK(index >= 0 && its_family.axes[size_t(index)].IndexOf(value) >= 0, "{}={}", axis, value);
  values[size_t(index)] = value;
}

Plan DefaultPlan(FamilyId family) {
  Plan plan{family};
  const std::span<const Axis> axes = GetFamily(family).axes;
  for (size_t i = 0; i < axes.size(); ++i) plan.values[i] = axes[i].default_value;
  return plan;
}

std::string Print(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  std::string text(family.name);
  for (size_t i = 0; i < family.axes.size(); ++i)
    text += fmt::format(" {}={}", family.axes[i].name, family.axes[i].Print(plan.values[i]));
  return text;
}

std::string PrintShort(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  constexpr size_t kTileAxes = 2;  // tile_m and tile_n come first in every family
  std::string text(family.name);
  for (size_t i = 0; i < family.axes.size(); ++i)
    if (const Axis& axis = family.axes[i]; i < kTileAxes || plan.values[i] != axis.default_value)
      text += fmt::format(" {}={}", axis.name, axis.Print(plan.values[i]));
  return text;
}

Result<Plan> ParsePlan(std::string_view text) {
  constexpr size_t kMostBytes = 4096;  // for the search for a word's nearest, and for messages that quote it
  if (text.size() > kMostBytes) return InvalidArgument("a plan starts with its family and has at most 4,096 bytes");
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.empty()) return InvalidArgument("an empty text is not a plan");
  ASSIGN_OR_RETURN(const Family* family, FindFamily(words[0]));
  Plan plan = DefaultPlan(family->id);
  std::vector<bool> given(family->axes.size());
  for (size_t w = 1; w < words.size(); ++w) {
    const size_t equals = words[w].find('=');
    if (equals == std::string_view::npos)
      return InvalidArgument(fmt::format("'{}' is not of the form key=value", words[w]));
    const std::string_view key = words[w].substr(0, equals);
    const int index = family->IndexOf(key);
    if (index < 0) return UnknownAxis(*family, key);
    if (given[index]) return InvalidArgument(fmt::format("{} is given twice", key));
    given[index] = true;
    ASSIGN_OR_RETURN(plan.values[index], ParseValue(family->axes[index], words[w].substr(equals + 1)));
  }
  return plan;
}

}  // namespace gemmsmith
