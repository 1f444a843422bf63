#include "archive/standings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gemmsmith {

namespace {

bool MoreTelling(const Trial& trial, const Trial& than) {
  if (trial.outcome.protocol != than.outcome.protocol)
    return MoreCareful(trial.outcome.protocol, than.outcome.protocol);
  return trial.outcome.TimeNs() < than.outcome.TimeNs();
}

std::optional<ShapeClass> ClassOnGrid(const Shape& shape) {
  static const std::vector<Shape> grid = *LoadShapes("paper1000");  // sorted
  if (!std::binary_search(grid.begin(), grid.end(), shape)) return std::nullopt;
  return Classify(shape);
}

using Group = std::pair<std::optional<ShapeClass>, Layout>;

Standing StandingOf(const Group& group, const std::vector<const Outcome*>& outcomes) {
  Standing standing{.shape_class = group.first, .layout = group.second, .problems = int(outcomes.size())};
  std::vector<double> medians, chained;
  for (const Outcome* outcome : outcomes) {
    const RatioEstimate ratio = *OverAutoTuning(*outcome);
    medians.push_back(ratio.median);
    standing.wins += ratio.interval.low > 1;
    standing.losses += ratio.interval.high < 1;
    if (const std::optional<double> in_chains = ChainedOverAutoTuning(*outcome)) chained.push_back(*in_chains);
  }
  standing.geometric_mean = GeometricMean(medians);
  standing.minimum = *std::min_element(medians.begin(), medians.end());
  standing.chained_problems = int(chained.size());
  if (!chained.empty()) standing.chained_mean = GeometricMean(chained);
  return standing;
}

}  // namespace

std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome) {
  std::optional<RatioEstimate> hardest;
  for (const Comparison& comparison : outcome.comparisons) {
    if (comparison.clock != Clock::kDevice || !comparison.baseline.starts_with("lt_auto")) continue;
    if (!hardest || comparison.ratio.median < hardest->median) hardest = comparison.ratio;
  }
  return hardest;
}

std::optional<double> ChainedOverAutoTuning(const Outcome& outcome) {
  const Timing* ours = outcome.Find("ours", Clock::kDeviceChained);
  const Timing* baseline = outcome.FastestBaseline("lt_auto", Clock::kDevice);
  if (ours == nullptr || baseline == nullptr || !(ours->median_ns > 0)) return std::nullopt;
  return baseline->median_ns / ours->median_ns;
}

std::vector<Standing> StandingsOf(const std::vector<Trial>& trials) {
  std::map<Gemm, const Trial*> best;
  for (const Trial& trial : trials) {
    if (trial.outcome.kind != OutcomeKind::kMeasured || trial.gemm.kind.type != ScalarType::kF16) continue;
    const Trial*& entry = best[trial.gemm];
    if (entry == nullptr || MoreTelling(trial, *entry)) entry = &trial;
  }
  std::map<Group, std::vector<const Outcome*>> groups;
  for (const auto& [gemm, trial] : best)
    if (OverAutoTuning(trial->outcome)) groups[{ClassOnGrid(gemm.shape), gemm.kind.layout}].push_back(&trial->outcome);
  std::vector<Standing> standings;
  for (const auto& [group, outcomes] : groups) standings.push_back(StandingOf(group, outcomes));
  return standings;
}

}  // namespace gemmsmith
