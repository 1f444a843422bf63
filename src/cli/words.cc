#include "cli/words.h"

#include <fmt/format.h>

#include <cmath>

namespace gemmsmith {

std::string TimeText(double time_ns) {
  if (time_ns < 1e6) return fmt::format("{:.{}f} us", time_ns / 1e3, time_ns < 1e5 ? 2 : 1);
  return fmt::format("{:.3f} ms", time_ns / 1e6);
}

std::string BytesText(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(kUnits); bytes /= 1024) ++unit;
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string RatioText(const RatioEstimate& ratio) {
  if (!ratio.interval.IsKnown()) return fmt::format("{:.2f}x", ratio.median);
  return fmt::format("{:.2f}x [{:.2f}-{:.2f}]", ratio.median, ratio.interval.low, ratio.interval.high);
}

std::string IntervalText(const Interval& interval_ns) {
  if (!interval_ns.IsKnown()) return "none";
  return fmt::format("{:.2f} to {:.2f} us", interval_ns.low / 1e3, interval_ns.high / 1e3);
}

std::string SecondsText(double seconds) {
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string OutcomesText(const std::vector<std::pair<OutcomeKind, int>>& by_outcome) {
  std::string text;
  // Measured, at the end of the kinds, is what people look for first.
  for (auto item = by_outcome.rbegin(); item != by_outcome.rend(); ++item) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", item->second, Name(item->first));
  }
  return text.empty() ? "none" : text;
}

std::string SubjectText(const Subject& subject) {
  const Plan* const plan = std::get_if<Plan>(&subject);
  return plan != nullptr ? PrintShort(*plan) : std::get<FreeForm>(subject).name;
}

std::string CanonicalText(const Subject& subject) {
  const Plan* const plan = std::get_if<Plan>(&subject);
  return plan != nullptr ? Print(*plan) : std::get<FreeForm>(subject).name;
}

std::string WhereText(std::string_view device_name, std::string_view recorded_date) {
  if (recorded_date.empty()) return fmt::format("measured on an {}", device_name);
  return fmt::format("replayed: measured on an {} on {}; no GPU was used here", device_name, recorded_date);
}

std::string BaselineText(std::string_view contender) {
  if (contender.starts_with("lt_auto")) return "cuBLASLt AutoTuning";
  if (contender.starts_with("lt_heuristic")) return "cuBLASLt heuristic";
  if (contender.starts_with("cublas")) return "cublasGemmEx";
  return std::string(contender);
}

}  // namespace gemmsmith
