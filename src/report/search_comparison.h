// How soon proposers come to the fastest kernel that was recorded: traces of their proposals scored against records.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "archive/replay.h"
#include "base/statistics.h"
#include "search/traces.h"

namespace gemmsmith {

// Evaluations at which results are told.
inline constexpr std::array<size_t, 7> kBudgets = {1, 2, 4, 8, 16, 32, 64};
static_assert(kBudgets.back() == kMaxEvaluations);

// The fastest recorded time over that of the best plan found so far (0 until one was found), in the mean over problems.
struct Score {
  double mean = 0;    // of the repeats
  Interval interval;  // where 95 % of the repeats lie
};

struct Curve {
  std::string name, origin;
  std::vector<Score> scores;  // [i]: after i + 1 evaluations
  size_t silent = 0;          // problems for which it never proposed anything: 0 stands there

  const Score& After(size_t evaluations) const { return scores[evaluations - 1]; }
  // The fewest evaluations whose mean is at least this.
  std::optional<size_t> FirstAt(double fraction) const;
};

// What random draws come to by combinatorics alone, and the measured curve beside it.
struct RandomCheck {
  std::vector<double> expected;         // as Curve::scores
  std::vector<double> standard_errors;  // of a curve measured with so many repeats
  size_t furthest = 0;                  // evaluations at which the difference is largest
  double difference = 0;                // there, measured less expected
  double largest_in_errors = 0;         // the largest in standard errors, anywhere
};

struct SearchComparison {
  size_t shapes = 0, problems = 0;
  std::vector<Curve> curves;                // the best after 8 evaluations first
  std::optional<RandomCheck> random_check;  // where "random" is among them
};

// InvalidArgument where the traces were made from other records.
Result<SearchComparison> CompareSearches(const Traces& traces, const Recording& recording);

// The expected value of the best of so many draws without replacement, and of its square; for 1, 2, ... `most` draws.
struct ExpectedBest {
  std::vector<double> mean, mean_square;
};
ExpectedBest BestOfDraws(std::vector<double> worths, size_t most);

}  // namespace gemmsmith
