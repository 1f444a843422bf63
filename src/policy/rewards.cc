#include "policy/rewards.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

constexpr double kMinDeviation = 1e-4;

const Timing* FastestBaselineOf(const Outcome& outcome, const Layout& layout) {
  const std::string ending = fmt::format("_{}", Name(layout));
  const Timing* fastest = nullptr;
  for (const Timing& timing : outcome.timings)
    if (timing.clock == outcome.LeadingClock() && timing.contender != "ours" && timing.contender.ends_with(ending) &&
        (fastest == nullptr || timing.median_ns < fastest->median_ns))
      fastest = &timing;
  return fastest;
}

}  // namespace

std::optional<double> SpeedUpOf(const Outcome& outcome, const Layout& layout) {
  if (!outcome.IsTimed()) return std::nullopt;
  const Timing* const baseline = FastestBaselineOf(outcome, layout);
  if (baseline == nullptr) return std::nullopt;
  for (const Comparison& comparison : outcome.comparisons)
    if (comparison.baseline == baseline->contender && comparison.clock == outcome.LeadingClock() &&
        comparison.contender == "ours")
      return comparison.ratio.mean;
  return baseline->median_ns / outcome.TimeNs();
}

std::optional<double> RewardOf(const Outcome& outcome, const Layout& layout, const RewardOptions& options) {
  if (outcome.kind != OutcomeKind::kMeasured) return options.grades[size_t(outcome.kind)];
  const std::optional<double> speed_up = SpeedUpOf(outcome, layout);
  if (!speed_up) return std::nullopt;
  return *speed_up - options.alpha * outcome.verdict.max_abs_error - options.beta * outcome.facts.instructions / 1000;
}

double RewardScale::Of(double reward) const {
  return std::clamp((reward - mean) / std::max(deviation, kMinDeviation), -kRewardClip, kRewardClip);
}

RewardScale ScaleOf(std::span<const double> rewards) { return {Mean(rewards), StandardDeviation(rewards)}; }

std::vector<double> Advantages(std::span<const double> rewards) {
  const double mean = Mean(rewards), deviation = StandardDeviation(rewards);
  std::vector<double> advantages;
  for (const double reward : rewards) advantages.push_back((reward - mean) / (deviation + kMinDeviation));
  return advantages;
}

}  // namespace gemmsmith
