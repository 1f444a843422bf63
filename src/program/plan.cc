#include "program/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/text.h"
#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

Result<int> ParseValue(const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) {
    const auto word = std::find(parameter.words.begin(), parameter.words.end(), text);
    if (word != parameter.words.end()) return parameter.values[word - parameter.words.begin()];
  } else if (const std::optional<long long> value = ParseInteger(text)) {
    if (std::find(parameter.values.begin(), parameter.values.end(), *value) != parameter.values.end())
      return int(*value);
  }
  std::vector<std::string> allowed;
  for (int value : parameter.values) allowed.push_back(parameter.Print(value));
  return InvalidArgument(fmt::format("{} cannot be '{}'; it takes {}", parameter.name, text, Join(allowed, ", ")));
}

Result<const Family*> FindFamily(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Family& family : Families()) {
    if (family.name == name) return &family;
    known.push_back(family.name);
  }
  return InvalidArgument(fmt::format("a plan starts with its family ({}), not '{}'", fmt::join(known, ", "), name));
}

Status UnknownParameter(const Family& family, std::string_view key) {
  std::vector<std::string_view> known;
  for (const Parameter& parameter : family.parameters) known.push_back(parameter.name);
  std::string message = fmt::format("{} has no parameter '{}'", family.name, key);
  if (const auto nearest = NearestWord(key, known)) message += fmt::format("; did you mean '{}'?", *nearest);
  return InvalidArgument(std::move(message));
}

}  // namespace

int Parameter::IndexOf(int value) const {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? -1 : int(found - values.begin());
}

int Parameter::StepsBetween(int first, int second) const {
  return stride > 0 ? (std::abs(first - second) + stride - 1) / stride : std::abs(IndexOf(first) - IndexOf(second));
}

std::string Parameter::Print(int value) const {
  const int index = IndexOf(value);
  GEMMSMITH_CHECK(index >= 0, "{} is no value of {}", value, name);
  return words.empty() ? fmt::format("{}", value) : std::string(words[index]);
}

size_t Family::ToldCount() const {
  return size_t(std::count_if(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.is_told(); }));
}

int Family::IndexOf(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter) return int(i);
  return -1;
}

std::span<const Family> Families() {
  static const Family families[] = {DirectFamily(), WgmmaFamily()};
  return families;
}

const Family& GetFamily(FamilyId id) {
  for (const Family& family : Families())
    if (family.id == id) return family;
  GEMMSMITH_CHECK(false, "family {}", int(id));
  return Families()[0];
}

int Plan::Get(std::string_view parameter) const {
  const int index = GetFamily(family).IndexOf(parameter);
  GEMMSMITH_CHECK(index >= 0, "no parameter {}", parameter);
  return values[index];
}

void Plan::Set(std::string_view parameter, int value) {
  const Family& schema = GetFamily(family);
  const int index = schema.IndexOf(parameter);
  GEMMSMITH_CHECK(index >= 0 && schema.parameters[index].IndexOf(value) >= 0, "{}={}", parameter, value);
  values[index] = value;
}

Plan DefaultPlan(FamilyId family) {
  Plan plan{family};
  const Family& schema = GetFamily(family);
  for (size_t i = 0; i < schema.parameters.size(); ++i) plan.values[i] = schema.parameters[i].default_value;
  return plan;
}

std::string Print(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  std::string text(family.name);
  for (size_t i = 0; i < family.parameters.size(); ++i)
    text += fmt::format(" {}={}", family.parameters[i].name, family.parameters[i].Print(plan.values[i]));
  return text;
}

Result<Plan> ParsePlan(std::string_view text) {
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.empty()) return InvalidArgument("an empty text is not a plan");
  ASSIGN_OR_RETURN(const Family* family, FindFamily(words[0]));
  Plan plan = DefaultPlan(family->id);
  std::vector<bool> given(family->parameters.size());
  for (size_t w = 1; w < words.size(); ++w) {
    const size_t equals = words[w].find('=');
    if (equals == std::string_view::npos)
      return InvalidArgument(fmt::format("'{}' is not of the form key=value", words[w]));
    const std::string_view key = words[w].substr(0, equals);
    const int index = family->IndexOf(key);
    if (index < 0) return UnknownParameter(*family, key);
    if (given[index]) return InvalidArgument(fmt::format("{} is given twice", key));
    given[index] = true;
    ASSIGN_OR_RETURN(plan.values[index], ParseValue(family->parameters[index], words[w].substr(equals + 1)));
  }
  return plan;
}

}  // namespace gemmsmith
