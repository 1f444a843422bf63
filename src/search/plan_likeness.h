// How alike plans are, by their values alone, for models that know nothing else of them. Axes of several families that
// have one name are one axis.
#pragma once

#include <vector>

#include "program/space.h"

namespace gemmsmith {

// Parts of the likeness that two plans have in common; together 1 for a plan and itself.
struct LikenessShares {
  double family = 0;
  double axes = 0;   // each axis by itself, all alike
  double whole = 0;  // all axes together
  double reach = 1;  // octaves of a number over which plans come to differ
};

class PlanLikeness {
 public:
  PlanLikeness(const Space& space, const LikenessShares& shares);

  // Of the space's plans, by index; a covariance.
  double Of(size_t first, size_t second) const;

 private:
  // Two coordinates of an axis.
  struct Pair {
    float alike = 0, distance = 0;
  };
  // An axis in which the space's plans differ.
  struct VariedAxis {
    std::vector<uint8_t> coordinates;  // by plan
    size_t count = 0;                  // of different coordinates
    std::vector<Pair> pairs;           // by coordinate and coordinate
  };

  LikenessShares shares_;
  std::vector<FamilyId> families_;
  std::vector<VariedAxis> axes_;
};

}  // namespace gemmsmith
