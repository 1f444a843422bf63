// Predicted times of a space's plans, corrected by what was measured on other problems, where the context has such
// experience, and on this one. The error of the prediction is taken for a Gaussian process (prediction_error.h).
#pragma once

#include <vector>

#include "search/gaussian_process.h"
#include "search/pace.h"
#include "search/proposer.h"

namespace gemmsmith {

class Forecast {
 public:
  // The context's space outlives it. Without a sound problem in the context every plan is predicted alike.
  explicit Forecast(const SearchContext& context);

  // Indices of the space's plans, the lowest prediction first, illegal ones last; ties in a seeded order.
  const std::vector<uint32_t>& order() const { return order_; }
  void Learn(const Plan& plan, const Outcome& outcome);
  void Learn(const Plan& plan, double time_ns);
  // The plan's outcome is under way: what it will tell of others is no longer a reason to try those.
  void MarkPending(size_t index) { error_.MarkPending(index); }
  // Comparable within one forecast; infinite for illegal plans.
  double TimeNs(size_t index) const { return OptimisticTimeNs(index, 0); }
  // So many standard deviations below that: low where the forecast is low or unsure.
  double OptimisticTimeNs(size_t index, double deviations) const;

 private:
  void LearnError(size_t index, double error);

  const Space& space_;
  std::vector<double> log_predicted_;
  GaussianProcess error_;  // log(measured / predicted), by index in the space
  Pace pace_;
  std::vector<uint32_t> order_;
};

// Where to begin: the plans of lowest prediction, no two of them neighbours, and alternately from every family whose
// best is predicted near the best of all, which comes first.
std::vector<Plan> PromisingStarts(const Forecast& forecast, const Space& space, size_t count);

}  // namespace gemmsmith
