#include "archive/standings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gemmsmith {

namespace {

bool MoreTelling(const Trial& trial, const Trial& than) {
  if (trial.outcome.protocol != than.outcome.protocol) return trial.outcome.protocol == Protocol::kShort;
  return trial.outcome.TimeNs() < than.outcome.TimeNs();
}

// Against the AutoTuning variant that is hardest to beat.
std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome) {
  std::optional<RatioEstimate> hardest;
  for (const Comparison& comparison : outcome.comparisons) {
    if (comparison.clock != Clock::kDevice || !comparison.baseline.starts_with("lt_auto")) continue;
    if (!hardest || comparison.ratio.median < hardest->median) hardest = comparison.ratio;
  }
  return hardest;
}

std::optional<ShapeClass> ClassOnGrid(const Shape& shape) {
  static const std::vector<Shape> grid = *LoadShapes("paper1000");  // sorted
  if (!std::binary_search(grid.begin(), grid.end(), shape)) return std::nullopt;
  return Classify(shape);
}

}  // namespace

std::vector<Standing> StandingsOf(const std::vector<Trial>& trials) {
  std::map<Gemm, const Trial*> best;
  for (const Trial& trial : trials) {
    if (trial.outcome.kind != OutcomeKind::kMeasured || trial.gemm.kind.type != ScalarType::kF16) continue;
    const Trial*& entry = best[trial.gemm];
    if (entry == nullptr || MoreTelling(trial, *entry)) entry = &trial;
  }
  std::map<std::pair<std::optional<ShapeClass>, Layout>, std::vector<RatioEstimate>> groups;
  for (const auto& [gemm, trial] : best)
    if (const std::optional<RatioEstimate> ratio = OverAutoTuning(trial->outcome))
      groups[{ClassOnGrid(gemm.shape), gemm.kind.layout}].push_back(*ratio);
  std::vector<Standing> standings;
  for (const auto& [group, ratios] : groups) {
    std::vector<double> medians;
    for (const RatioEstimate& ratio : ratios) medians.push_back(ratio.median);
    Standing standing{group.first, group.second, int(ratios.size()), GeometricMean(medians),
                      *std::min_element(medians.begin(), medians.end())};
    for (const RatioEstimate& ratio : ratios) {
      standing.wins += ratio.interval.low > 1;
      standing.losses += ratio.interval.high < 1;
    }
    standings.push_back(standing);
  }
  return standings;
}

}  // namespace gemmsmith
