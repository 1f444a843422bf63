// The set of plans that a search may choose from for one problem, and how plans neighbour each other.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "program/legality.h"
#include "program/plan.h"

namespace gemmsmith {

// The legal plans that are predicted fastest, of all families together, sorted by predicted time and then canonically:
// `limit` of them where there are as many. Axes with little say in the time (store, raster) are varied only where
// the rest of the plan is promising, and not at all where every value makes the same kernel; trigger and fixed stand at
// one value.
std::vector<Plan> RankedPlans(const Gemm& gemm, const Device& device, size_t limit);

// The plan with what all of RankedPlans() have of that which twins bring: trigger, known dimensions, place, walk, and
// whole shares of a streamed operand.
Plan UsualForm(Plan plan, const Device& device);

// The plan with its secondary axes at their first values: what plans have in common that differ in little of the time.
Plan GeometryOf(const Plan& plan);

// The search's whole world where a GPU measures.
inline constexpr size_t kLiveSpaceSize = 4096;

// Plans that differ in one parameter by one step of its values (or, for an axis without steps, in any other word).
std::vector<Plan> Neighbours(const Plan& plan);

// One to three parameters moved at random; legality is the caller's concern.
Plan Mutate(const Plan& plan, Random& random);
// Each parameter from one of two parents of one family; with parents of two families, a copy of the first.
Plan Cross(const Plan& first, const Plan& second, Random& random);

// A finite set of candidate plans with fast membership: RankedPlans() where a GPU measures, the recorded ones where a
// record answers.
class Space {
 public:
  explicit Space(std::vector<Plan> plans);  // sorted and made unique
  const std::vector<Plan>& plans() const { return plans_; }
  size_t size() const { return plans_.size(); }
  std::optional<size_t> IndexOf(const Plan& plan) const;  // in plans()
  bool Contains(const Plan& plan) const { return IndexOf(plan).has_value(); }
  // Those Neighbours() that are in the space.
  std::vector<Plan> NeighboursOf(const Plan& plan) const;

 private:
  std::vector<Plan> plans_;
};

}  // namespace gemmsmith
