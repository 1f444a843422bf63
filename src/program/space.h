// The set of plans that a search may choose from for one problem, and how plans neighbour each other.
#pragma once

#include <vector>

#include "base/random.h"
#include "program/legality.h"
#include "program/plan.h"

namespace gemmsmith {

// Every plan of every family that is legal for the problem on the device, in canonical order.
std::vector<Plan> EnumerateLegal(const Gemm& gemm, const Device& device);

// Plans that differ in one parameter by one step of its values (or, for an axis of words, in any other word).
std::vector<Plan> Neighbours(const Plan& plan);

// One to three parameters moved at random; legality is the caller's concern.
Plan Mutate(const Plan& plan, Random& random);
// Each parameter from one of two parents of one family; with parents of two families, a copy of the first.
Plan Cross(const Plan& first, const Plan& second, Random& random);

// A finite set of candidate plans with fast membership, the search's whole world: all legal plans where a GPU measures,
// the recorded ones where a record answers.
class Space {
 public:
  explicit Space(std::vector<Plan> plans);  // sorted and made unique
  const std::vector<Plan>& plans() const { return plans_; }
  size_t size() const { return plans_.size(); }
  bool Contains(const Plan& plan) const;
  // Those Neighbours() that are in the space.
  std::vector<Plan> NeighboursOf(const Plan& plan) const;

 private:
  std::vector<Plan> plans_;
};

}  // namespace gemmsmith
