#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/table.h"

namespace gemmsmith {

namespace {

std::vector<std::string> ValuesOf(const Parameter& parameter) {
  std::vector<std::string> values;
  for (const int value : parameter.values) values.push_back(parameter.Print(value));
  return values;
}

// "8 to 256 by 8" where many values stand at even distances.
std::string ValuesText(const Parameter& parameter) {
  constexpr size_t kMany = 12;
  const std::span<const int> values = parameter.values;
  if (values.size() < kMany || !parameter.words.empty()) return Join(ValuesOf(parameter), " ");
  const int step = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step) return Join(ValuesOf(parameter), " ");
  return fmt::format("{} to {} by {}", values.front(), values.back(), step);
}

std::string ExplainPlan(const Plan& plan, const Terminal& terminal) {
  const Family& family = GetFamily(plan.family);
  Table table({{"parameter"}, {"value", Table::Align::kRight}, {"meaning"}});
  for (const Parameter& parameter : family.parameters) {
    table.Add({std::string(parameter.name), parameter.Print(plan.Get(parameter.name)), std::string(parameter.meaning)});
  }
  return fmt::format("{}: {}\n\n{}", Tinted(family.name, Tint::kBold, terminal), family.meaning, table.Print(terminal));
}

std::string ExplainFamily(const Family& family, const Terminal& terminal) {
  Table table({{"parameter"}, {"default", Table::Align::kRight}, {"values"}, {"meaning"}});
  for (const Parameter& parameter : family.parameters) {
    table.Add({std::string(parameter.name), parameter.Print(parameter.default_value), ValuesText(parameter),
               std::string(parameter.meaning)});
  }
  return fmt::format("{}: {}\n\n{}", Tinted(family.name, Tint::kBold, terminal), family.meaning, table.Print(terminal));
}

Json JsonOf(const Family& family, const std::optional<Plan>& plan) {
  Json parameters = Json::array();
  for (const Parameter& parameter : family.parameters) {
    Json json = {{"name", parameter.name},
                 {"meaning", parameter.meaning},
                 {"default", parameter.Print(parameter.default_value)},
                 {"values", ValuesOf(parameter)}};
    if (plan) json["value"] = parameter.Print(plan->Get(parameter.name));
    parameters.push_back(json);
  }
  return {{"name", family.name}, {"meaning", family.meaning}, {"parameters", parameters}};
}

}  // namespace

Result<int> Run(const PlanExplainCommand& command) {
  std::string text;
  if (command.json) {
    Json families = Json::array();
    for (const Family& family : Families()) {
      if (!command.plan || command.plan->family == family.id) families.push_back(JsonOf(family, command.plan));
    }
    text = PrintJson({{"command", "plan explain"},
                      {"plan", command.plan ? Json(Print(*command.plan)) : Json()},
                      {"families", families}});
  } else {
    const Terminal terminal = DescribeTerminal(STDOUT_FILENO);
    if (command.plan) {
      text = ExplainPlan(*command.plan, terminal);
    } else {
      for (const Family& family : Families())
        text += fmt::format("{}{}", text.empty() ? "" : "\n", ExplainFamily(family, terminal));
    }
  }
  RETURN_IF_ERROR(WriteOut(text));
  return kExitDone;
}

}  // namespace gemmsmith
