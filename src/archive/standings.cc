#include "archive/standings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gemmsmith {

namespace {

// A problem's best kernel, and its best speed-up in chains, which may be another kernel's.
struct Best {
  const Trial* trial = nullptr;
  std::optional<double> chained;
  RankedTime chained_time;  // over AutoTuning's
};

// The problems that were timed against AutoTuning.
std::map<Gemm, Best> BestOfProblems(const std::vector<Trial>& trials) {
  std::map<Gemm, Best> problems;
  for (const Trial& trial : trials) {
    const Outcome& outcome = trial.outcome;
    const GemmKind& kind = trial.gemm.kind;
    if (!trial.IsTimedPlan() || kind.type != ScalarType::kF16 || kind.accumulation != Accumulation::kF32) continue;
    Best& best = problems[trial.gemm];
    if (best.trial == nullptr || RankedTime::Of(outcome).Beats(RankedTime::Of(best.trial->outcome)))
      best.trial = &trial;
    const std::optional<double> chained = ChainedOverAutoTuning(outcome);
    if (!chained) continue;
    const RankedTime time{outcome.LeadingClock(), outcome.protocol, 1 / *chained};
    if (best.chained && !time.Beats(best.chained_time)) continue;
    best.chained = chained;
    best.chained_time = time;
  }
  std::erase_if(problems, [](const auto& problem) { return !OverAutoTuning(problem.second.trial->outcome); });
  return problems;
}

Standing StandingOf(std::optional<ShapeClass> shape_class, const Layout& layout, const std::vector<Best>& problems) {
  Standing standing{.shape_class = shape_class, .layout = layout, .problems = int(problems.size())};
  std::vector<double> medians, chained;
  for (const Best& best : problems) {
    const RatioEstimate ratio = *OverAutoTuning(best.trial->outcome);
    medians.push_back(ratio.median);
    standing.wins += ratio.median > 1;
    standing.losses += ratio.median < 1;
    standing.clear_wins += ratio.interval.low > 1;
    standing.clear_losses += ratio.interval.IsKnown() && ratio.interval.high < 1;
    if (best.chained) chained.push_back(*best.chained);
  }
  standing.geometric_mean = GeometricMean(medians);
  standing.minimum = *std::min_element(medians.begin(), medians.end());
  standing.chained_problems = int(chained.size());
  if (!chained.empty()) standing.chained_mean = GeometricMean(chained);
  return standing;
}

}  // namespace

std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome, Clock clock) {
  std::optional<RatioEstimate> hardest;
  for (const Comparison& comparison : outcome.comparisons) {
    if (comparison.contender != "ours" || comparison.clock != clock) continue;
    if (!comparison.baseline.starts_with("lt_auto")) continue;
    if (!hardest || comparison.ratio.median < hardest->median) hardest = comparison.ratio;
  }
  return hardest;
}

std::optional<double> ChainedOverAutoTuning(const Outcome& outcome) {
  const Timing* ours = outcome.OursChained();
  const Timing* baseline = outcome.FastestBaseline("lt_auto", outcome.LeadingClock());
  if (ours == nullptr || baseline == nullptr || !(ours->median_ns > 0)) return std::nullopt;
  return baseline->median_ns / ours->median_ns;
}

bool RankedTime::Beats(const RankedTime& other) const {
  if (clock != other.clock) return clock == Clock::kDeviceCold;
  return protocol == other.protocol ? time_ns < other.time_ns : MoreCareful(protocol, other.protocol);
}

BestPlan::BestPlan(const Trial& trial) : plan_(trial.plan()), time_(RankedTime::Of(trial.outcome)) {}

void BestPlan::Add(const Trial& trial) {
  if (RankedTime::Of(trial.outcome).Beats(time_)) *this = BestPlan(trial);
}

void BestPlans::Add(const Trial& trial) {
  if (!trial.IsTimedPlan()) return;
  const auto [best, is_new] = best_.try_emplace(trial.gemm, trial);
  if (!is_new) best->second.Add(trial);
}

const Plan* BestPlans::Find(const Gemm& gemm) const {
  const auto best = best_.find(gemm);
  return best == best_.end() ? nullptr : &best->second.plan();
}

std::vector<PlannedGemm> BestPlans::All() const {
  std::vector<PlannedGemm> all;
  for (const auto& [gemm, best] : best_) all.push_back({gemm, best.plan()});
  return all;
}

std::vector<Standing> StandingsOf(const std::vector<Trial>& trials) {
  std::map<std::pair<std::optional<ShapeClass>, Layout>, std::vector<Best>> groups;
  for (const auto& [gemm, best] : BestOfProblems(trials))
    groups[{ClassOnGrid(gemm.shape), gemm.kind.layout}].push_back(best);
  std::vector<Standing> standings;
  for (const auto& [group, problems] : groups) standings.push_back(StandingOf(group.first, group.second, problems));
  return standings;
}

std::vector<Standing> TotalsOf(const std::vector<Trial>& trials) {
  std::map<Layout, std::vector<Best>> layouts;
  for (const auto& [gemm, best] : BestOfProblems(trials))
    if (ClassOnGrid(gemm.shape)) layouts[gemm.kind.layout].push_back(best);
  std::vector<Standing> totals;
  for (const auto& [layout, problems] : layouts) totals.push_back(StandingOf(std::nullopt, layout, problems));
  return totals;
}

}  // namespace gemmsmith
