#include "report/search_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/recorded_cells.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kRandom = "random";
constexpr size_t kRankedBy = 8;  // evaluations

using Worths = std::vector<double>;  // of one problem's cells

Result<std::vector<Worths>> WorthsOf(const Traces& traces, const Recording& recording) {
  std::vector<Worths> worths;
  for (const TracedProblem& problem : traces.problems) {
    const RecordedCells cells(recording, problem.gemm);
    if (cells.space().size() != problem.cells || cells.Fingerprint() != problem.fingerprint)
      return InvalidArgument(
          fmt::format("the traces were made from other records of {}: name those with --records, or make new traces "
                      "with --recompute",
                      Print(problem.gemm)));
    worths.emplace_back(cells.worths().begin(), cells.worths().end());
  }
  return worths;
}

// Adds the best so far after 1, 2, ... evaluations; a trace that has ended keeps its last value.
void AddBestSoFar(const Trace& trace, const Worths& worths, std::vector<double>& sums) {
  double best = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i < trace.size()) best = std::max(best, worths[trace[i]]);
    sums[i] += best;
  }
}

Curve CurveOf(const TracedProposer& proposer, const Traces& traces, const std::vector<Worths>& worths) {
  std::vector<std::vector<double>> by_evaluation(kMaxEvaluations);  // the means of the repeats
  for (size_t repeat = 0; repeat < traces.repeats; ++repeat) {
    std::vector<double> sums(kMaxEvaluations);
    for (size_t problem = 0; problem < worths.size(); ++problem)
      AddBestSoFar(traces.Of(proposer, problem, repeat), worths[problem], sums);
    for (size_t i = 0; i < sums.size(); ++i) by_evaluation[i].push_back(sums[i] / double(worths.size()));
  }
  Curve curve{.name = proposer.name, .origin = proposer.origin};
  for (const std::vector<double>& means : by_evaluation)
    curve.scores.push_back({Mean(means), {Quantile(means, 0.025), Quantile(means, 0.975)}});
  for (size_t problem = 0; problem < worths.size(); ++problem) {
    bool is_silent = true;
    for (size_t repeat = 0; repeat < traces.repeats; ++repeat)
      is_silent = is_silent && traces.Of(proposer, problem, repeat).empty();
    curve.silent += is_silent;
  }
  return curve;
}

RandomCheck CheckOf(const Curve& random, const std::vector<Worths>& worths, size_t repeats) {
  RandomCheck check{.expected = std::vector<double>(kMaxEvaluations),
                    .standard_errors = std::vector<double>(kMaxEvaluations)};
  std::vector<double> variances(kMaxEvaluations);
  for (const Worths& of_problem : worths) {
    const ExpectedBest best = BestOfDraws(of_problem, kMaxEvaluations);
    for (size_t i = 0; i < kMaxEvaluations; ++i) {
      check.expected[i] += best.mean[i] / double(worths.size());
      variances[i] += std::max(0.0, best.mean_square[i] - best.mean[i] * best.mean[i]);
    }
  }
  for (size_t i = 0; i < kMaxEvaluations; ++i) {
    constexpr double kRounding = 1e-12;  // where every draw finds the best
    check.standard_errors[i] = std::sqrt(variances[i] / double(repeats)) / double(worths.size());
    const double difference = random.scores[i].mean - check.expected[i];
    if (i == 0 || std::abs(difference) > std::abs(check.difference))
      check.furthest = i + 1, check.difference = difference;
    check.largest_in_errors = std::max(check.largest_in_errors, std::max(0.0, std::abs(difference) - kRounding) /
                                                                    std::max(kRounding, check.standard_errors[i]));
  }
  return check;
}

}  // namespace

std::optional<size_t> Curve::FirstAt(double fraction) const {
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i].mean >= fraction) return i + 1;
  return std::nullopt;
}

// The r-th best of n is the best of b draws when it is drawn and none of the r - 1 better ones is.
ExpectedBest BestOfDraws(std::vector<double> worths, size_t most) {
  GEMMSMITH_CHECK(!worths.empty(), "draws from nothing");
  std::sort(worths.begin(), worths.end(), std::greater<>());
  ExpectedBest best;
  for (size_t draws = 1; draws <= most; ++draws) {
    const double n = double(worths.size()), b = double(std::min(draws, worths.size()));
    double mean = 0, mean_square = 0, probability = b / n;
    for (size_t rank = 0; rank < worths.size() && probability > 0; ++rank) {
      mean += probability * worths[rank];
      mean_square += probability * worths[rank] * worths[rank];
      const double worse = n - double(rank) - 1;
      probability = worse >= b ? probability * (worse - b + 1) / worse : 0;
    }
    best.mean.push_back(mean);
    best.mean_square.push_back(mean_square);
  }
  return best;
}

Result<SearchComparison> CompareSearches(const Traces& traces, const Recording& recording) {
  ASSIGN_OR_RETURN(const std::vector<Worths> worths, WorthsOf(traces, recording));
  std::set<Shape> shapes;
  for (const TracedProblem& problem : traces.problems) shapes.insert(problem.gemm.shape);
  SearchComparison comparison{.shapes = shapes.size(), .problems = worths.size()};
  for (const TracedProposer& proposer : traces.proposers) {
    comparison.curves.push_back(CurveOf(proposer, traces, worths));
    if (proposer.name == kRandom) comparison.random_check = CheckOf(comparison.curves.back(), worths, traces.repeats);
  }
  std::stable_sort(comparison.curves.begin(), comparison.curves.end(),
                   [](const Curve& a, const Curve& b) { return a.After(kRankedBy).mean > b.After(kRankedBy).mean; });
  return comparison;
}

}  // namespace gemmsmith
