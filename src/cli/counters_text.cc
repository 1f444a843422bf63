#include "cli/counters_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/words.h"

namespace gemmsmith {

namespace {

std::string_view ObserverText(std::string_view observer) {
  if (observer == "cupti") return "CUPTI";
  if (observer == "ncu") return "Nsight Compute";
  if (observer == "guest") return "CUPTI in the source's own process, on its word";
  return "no profiler";
}

bool IsStall(const CounterDefinition& definition) { return definition.name.starts_with("stall_"); }

// Counts as counts, everything else with the digits that matter.
std::string ValueText(const CounterDefinition& definition, double value) {
  if (definition.counter == Counter::kDuration) return TimeText(value);
  if (definition.unit == "B") return BytesText(value);
  if (definition.unit == "%") return fmt::format("{:.1f} %", value);
  const bool is_count = definition.unit.empty() && value == std::floor(value);
  const std::string number = is_count ? CountText(int64_t(value)) : fmt::format("{:.4g}", value);
  return definition.unit.empty() ? number : fmt::format("{} {}", number, definition.unit);
}

std::string CounterLine(std::string_view name, const std::string& value, std::string_view definition,
                        const Terminal& terminal) {
  return fmt::format("  {:<30} {:>12}  {}\n", name, value, Tinted(definition, Tint::kDim, terminal));
}

std::string MeasuresText(const Counters& counters, const Terminal& terminal) {
  std::string text;
  for (const CounterDefinition& definition : CounterDefinitions()) {
    const std::optional<double>& value = counters[definition.counter];
    if (IsStall(definition) || !value) continue;
    text += CounterLine(definition.name, ValueText(definition, *value), definition.definition, terminal);
  }
  return text;
}

std::string StallsText(const Counters& counters, const Terminal& terminal) {
  std::vector<std::pair<double, const CounterDefinition*>> stalls;
  double all = 0;
  for (const CounterDefinition& definition : CounterDefinitions())
    if (const std::optional<double>& value = counters[definition.counter]; IsStall(definition) && value) {
      stalls.emplace_back(*value, &definition);
      all += *value;
    }
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::string text;
  constexpr double kWorthALine = 0.01;
  for (const auto& [value, definition] : stalls)
    if (value > kWorthALine * all)
      text += CounterLine(definition->name, fmt::format("{:.1f} %", 100 * value / all),
                          fmt::format("of waiting: {}", definition->definition), terminal);
  return text;
}

}  // namespace

std::string CountersText(const std::optional<Counters>& counters, const Terminal& terminal) {
  if (!counters) return "";
  std::string text = fmt::format("\n  counters, by {}\n", ObserverText(counters->observer));
  text += MeasuresText(*counters, terminal) + StallsText(*counters, terminal);
  if (!counters->lacks.empty()) text += fmt::format("  the rest is absent: {}\n", counters->lacks);
  return text;
}

}  // namespace gemmsmith
