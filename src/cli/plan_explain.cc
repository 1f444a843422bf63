#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/table.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

std::vector<std::string> ValuesOf(const Axis& axis) {
  std::vector<std::string> values;
  for (const int value : axis.live_values()) values.push_back(axis.Print(value));
  return values;
}

// "8 to 256 by 8" where many values stand at even distances.
std::string ValuesText(const Axis& axis) {
  constexpr size_t kMany = 12;
  const std::span<const int> values = axis.live_values();
  if (values.size() < kMany || !axis.words.empty()) return Join(ValuesOf(axis), " ");
  const int step = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step) return Join(ValuesOf(axis), " ");
  return fmt::format("{} to {} by {}", values.front(), values.back(), step);
}

std::string ExplainPlan(const Plan& plan, const Terminal& terminal) {
  const Family& family = GetFamily(plan.family);
  Table table({{"parameter"}, {"value", Table::Align::kRight}, {"meaning"}});
  for (const Axis& axis : family.axes)
    if (const int value = plan.Get(axis.name); !IsRetired(axis) || value != axis.default_value)
      table.Add({std::string(axis.name), axis.Print(value), std::string(axis.meaning)});
  return fmt::format("{}: {}\n\n{}", Tinted(family.name, Tint::kBold, terminal), family.meaning, table.Print(terminal));
}

std::string ExplainFamily(const Family& family, const Terminal& terminal) {
  Table table({{"parameter"}, {"default", Table::Align::kRight}, {"values"}, {"meaning"}});
  for (const Axis& axis : family.axes)
    if (!IsRetired(axis))
      table.Add({std::string(axis.name), axis.Print(axis.default_value), ValuesText(axis), std::string(axis.meaning)});
  return fmt::format("{}: {}\n\n{}", Tinted(family.name, Tint::kBold, terminal), family.meaning, table.Print(terminal));
}

Json JsonOf(const Family& family, const std::optional<Plan>& plan) {
  Json axes = Json::array();
  for (const Axis& axis : family.axes) {
    Json json = {{"name", axis.name},
                 {"meaning", axis.meaning},
                 {"default", axis.Print(axis.default_value)},
                 {"values", ValuesOf(axis)}};
    if (plan) json["value"] = axis.Print(plan->Get(axis.name));
    axes.push_back(json);
  }
  return {{"name", family.name}, {"meaning", family.meaning}, {"parameters", axes}};
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
