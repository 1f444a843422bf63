#include "report/patterns.h"

#include <algorithm>
#include <set>

#include "base/statistics.h"
#include "report/pattern_sentences.h"

namespace gemmsmith {
namespace {

int SourceWinners(const Selection& selection) {
  int count = 0;
  for (const ShapeRecords& records : selection.shapes)
    for (const auto& [layout, trial] : records.ours) count += !trial->HasPlan();
  return count;
}

void CountTimedPlans(const std::vector<WinningPlan>& winners, const std::map<Gemm, TrialsByPlan>& problems,
                     Patterns& patterns) {
  std::vector<double> plans;
  for (const WinningPlan& winner : winners) {
    const auto found = problems.find(winner.gemm);
    plans.push_back(found == problems.end() ? 1 : double(found->second.size()));
  }
  patterns.unopposed = int(std::count(plans.begin(), plans.end(), 1.0));
  patterns.median_plans = Median(plans);
}

}  // namespace

Result<Patterns> FindPatterns(const std::vector<Trial>& trials, const Selection& selection) {
  const std::vector<WinningPlan> winners = WinningPlans(selection, selection.leading);
  if (winners.empty()) return NotFound("no plan of ours was timed on these shapes, so there are no winners to look at");
  std::set<Shape> shapes;
  for (const WinningPlan& winner : winners) shapes.insert(winner.gemm.shape);
  Patterns patterns{.selection = selection,
                    .shapes = int(shapes.size()),
                    .winners = int(winners.size()),
                    .source_winners = SourceWinners(selection),
                    .axes = AxisPatterns(winners),
                    .extents = ExtentsOfFamilies(winners),
                    .choices = ChoicePatterns(trials, selection),
                    .ragged = RaggedRows(winners)};
  const std::map<Gemm, TrialsByPlan> problems = PlansOfProblems(trials, selection);
  CountTimedPlans(winners, problems, patterns);
  patterns.techniques = TechniqueRows(problems, selection.leading);
  patterns.sentences = SentencesOf(patterns);
  return patterns;
}

}  // namespace gemmsmith
