#include "archive/sound_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace gemmsmith {
namespace {

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }
bool IsMeasure(double value) { return std::isfinite(value) && value >= 0; }
bool IsFinite(const Interval& interval) { return std::isfinite(interval.low) && std::isfinite(interval.high); }

bool IsSound(const Timing& timing) {
  const bool has_sound_energy =
      !timing.energy || (IsPositive(timing.energy->joules) && IsFinite(timing.energy->interval));
  return IsPositive(timing.median_ns) && IsMeasure(timing.mean_ns) && IsFinite(timing.interval) &&
         std::ranges::all_of(timing.samples_ns, [](float sample) { return IsPositive(double(sample)); }) &&
         has_sound_energy;
}

bool IsSound(const RatioEstimate& ratio) {
  return IsPositive(ratio.median) && IsMeasure(ratio.mean) && IsFinite(ratio.interval);
}

}  // namespace

Status CheckTimes(const Outcome& outcome) {
  for (const Timing& timing : outcome.timings)
    if (!IsSound(timing))
      return InvalidArgument(
          fmt::format("the timing of '{}' on {} is no time: median, samples and joules must be above 0",
                      timing.contender, Name(timing.clock)));
  for (const Comparison& comparison : outcome.comparisons)
    if (!IsSound(comparison.ratio))
      return InvalidArgument(fmt::format("the comparison with '{}' on {} is no ratio: its median must be above 0",
                                         comparison.baseline, Name(comparison.clock)));
  return OkStatus();
}

bool IsPrintable(std::string_view name) { return std::ranges::none_of(name, IsControl); }

Status CheckNames(const Trial& trial) {
  const Setting& setting = trial.setting;
  std::vector<std::string_view> names = {trial.campaign, setting.device_key, setting.device_name, setting.gpu_uuid,
                                         setting.driver, setting.toolchain,  setting.libraries,   setting.harness};
  for (const Timing& timing : trial.outcome.timings) names.push_back(timing.contender);
  for (const Comparison& comparison : trial.outcome.comparisons)
    names.insert(names.end(), {comparison.contender, comparison.baseline});
  for (const auto& [baseline, algorithm] : trial.outcome.baseline_algorithms)
    names.insert(names.end(), {baseline, algorithm});
  for (const std::string_view name : names)
    if (!IsPrintable(name)) return InvalidArgument(fmt::format("the name '{}' holds control characters", name));
  return OkStatus();
}

}  // namespace gemmsmith
