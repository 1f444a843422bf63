#include "gpu/clock_limits.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kNames[] = {"power_cap",   "hardware_slowdown", "software_thermal",   "hardware_thermal",
                                       "power_brake", "sync_boost",        "application_clocks", "display_clocks"};
static_assert(std::size(kNames) == kClockLimitCount);

}  // namespace

std::string_view Name(ClockLimit limit) { return kNames[size_t(limit)]; }

std::optional<ClockLimit> ParseClockLimit(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return ClockLimit(found - std::begin(kNames));
}

std::string Print(const ClockLimits& limits) {
  std::string text;
  for (size_t i = 0; i < kClockLimitCount; ++i) {
    if (!limits.Has(ClockLimit(i))) continue;
    if (!text.empty()) text += ' ';
    text += kNames[i];
  }
  return text;
}

std::optional<ClockLimits> ParseClockLimits(std::string_view text) {
  ClockLimits limits;
  for (const std::string_view word : SplitWords(text)) {
    const std::optional<ClockLimit> limit = ParseClockLimit(word);
    if (!limit) return std::nullopt;
    limits.Add(*limit);
  }
  return limits;
}

}  // namespace gemmsmith
