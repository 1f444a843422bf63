// Measured plans, fastest first.
#pragma once

#include <vector>

#include "outcome/outcome.h"
#include "program/plan.h"
#include "search/pace.h"

namespace gemmsmith {

struct RankedPlan {
  double time_ns = 0;  // at one pace
  Plan plan;
  auto operator<=>(const RankedPlan&) const = default;
};

class Ranking {
 public:
  // An outcome that is not measured leaves the ranking as it is. A plan seen again counts with its latest time.
  void Add(const Plan& plan, const Outcome& outcome);
  void Clear() { plans_.clear(); }
  bool empty() const { return plans_.empty(); }
  size_t size() const { return plans_.size(); }
  const RankedPlan& operator[](size_t rank) const { return plans_[rank]; }

 private:
  Pace pace_;
  std::vector<RankedPlan> plans_;
};

}  // namespace gemmsmith
