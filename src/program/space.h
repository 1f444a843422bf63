// The set of plans that a search may choose from for one problem, and how plans neighbour each other.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "program/legality.h"
#include "program/plan.h"

namespace gemmsmith {

// The plans worth trying that are predicted fastest, of all families together, sorted by predicted time and then
// canonically: `limit` of them where there are as many. Axes outside the geometry are varied only where the geometry is
// promising. Trigger and fixed stand at their screening values.
std::vector<Plan> RankedPlans(const Gemm& gemm, const Device& device, size_t limit);

// The plan with the trigger and the known dimensions that all of RankedPlans() have.
Plan ScreeningForm(Plan plan, const Device& device);

// The plan with its other axes at their first values: tile and feed, or the tile alone.
Plan GeometryOf(const Plan& plan);
Plan TilingOf(const Plan& plan);

// Plans that a live search chooses from.
inline constexpr size_t kLiveSpaceSize = 4096;

// Plans that differ on one axis by one step of its live values (or, for an axis without steps, in any other word).
std::vector<Plan> Neighbours(const Plan& plan);

// One to three axes moved at random; legality is the caller's concern.
Plan Mutate(const Plan& plan, Random& random);
// Each axis from one of two parents of one family; with parents of two families, a copy of the first.
Plan Cross(const Plan& first, const Plan& second, Random& random);

// A finite set of candidate plans with fast membership: RankedPlans() in a live search, the recorded ones in a replay.
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
