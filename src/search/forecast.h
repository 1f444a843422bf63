// Predicted times of a space's plans, corrected by what was measured: near a measured plan the model is trusted as far
// as it was right there.
#pragma once

#include <optional>
#include <vector>

#include "search/proposer.h"

namespace gemmsmith {

class Forecast {
 public:
  // The context's space outlives it. Without a sound problem in the context every plan is predicted alike.
  explicit Forecast(const SearchContext& context);

  // Indices of the space's plans, the lowest prediction first, illegal ones last; ties in a seeded order.
  const std::vector<uint32_t>& order() const { return order_; }
  void Learn(const Plan& plan, const Outcome& outcome);
  // Comparable within one forecast; infinite for illegal plans.
  double TimeNs(size_t index) const;

 private:
  struct Correction {
    double weight = 0, sum = 0;  // of log(measured / predicted) of measured plans, by nearness
  };

  const Space& space_;
  std::vector<double> log_predicted_;
  std::vector<Correction> corrections_;
  std::vector<Correction> of_family_;  // by FamilyId
  std::vector<uint32_t> order_;
};

// Where to begin: the plans of lowest prediction, no two of them neighbours, and by turns from every
// family whose best is predicted near the best of all.
std::vector<Plan> PromisingStarts(const Forecast& forecast, const Space& space, size_t count);

}  // namespace gemmsmith
