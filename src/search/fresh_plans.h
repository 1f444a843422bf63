// The plans of a space that nobody has proposed yet, in an order drawn from a seed. What every proposer stands on: no
// plan leaves it twice, and it ends exactly when the space does.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "program/space.h"

namespace gemmsmith {

// How far two plans are apart: steps along the axes that have steps, one for each other axis that differs. Neighbours
// are 1 apart; plans of two families are kFarApart.
inline constexpr int kFarApart = 1 << 20;
int Distance(const Plan& first, const Plan& second);

// Up to `count` plans that `next` gives, which has an end.
template <class Next>
std::vector<Plan> UpTo(int count, Next next) {
  std::vector<Plan> plans;
  while (int(plans.size()) < count) {
    const std::optional<Plan> plan = next();
    if (!plan) break;
    plans.push_back(*plan);
  }
  return plans;
}

class FreshPlans {
 public:
  FreshPlans(const Space& space, Random random);  // the space outlives it

  // Takes a plan of the space that was not taken before; false for any other.
  bool Take(const Plan& plan);
  // The next one of the seeded order; nothing when all are taken.
  std::optional<Plan> TakeAny();
  // The one nearest to `plan`, if any is within `reach`; ties fall in the seeded order.
  std::optional<Plan> TakeNearest(const Plan& plan, int reach);
  size_t remaining() const { return remaining_; }
  bool IsTaken(size_t index) const { return taken_[index]; }

 private:
  Plan TakeIndex(size_t index);

  const Space& space_;
  std::vector<uint32_t> order_;  // a permutation of the space
  std::vector<uint32_t> rank_;   // its inverse
  std::vector<bool> taken_;      // by index in the space
  size_t cursor_ = 0;            // everything in order_ before it is taken
  size_t remaining_ = 0;
};

}  // namespace gemmsmith
