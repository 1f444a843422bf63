#include "search/prediction_error.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "program/family.h"
#include "search/fresh_plans.h"

namespace gemmsmith {

namespace {

// Standard deviations of the parts, as logarithms: the model's errors are about 0.07 within what it was fitted to and
// larger elsewhere (docs/lab/cost_model.md).
constexpr double kFamilyDeviation = 0.2, kAxisDeviation = 0.06, kRestDeviation = 0.06;
// Steps over which values of an axis, and plans, come to differ.
constexpr double kAxisReach = 3, kRestReach = 2;

double Squared(double x) { return x * x; }

int Steps(const Axis& axis, int first, int second) {
  if (first == second) return 0;
  return axis.HasSteps() ? axis.StepsBetween(first, second) : int(kFarApart);
}

// What values of an axis share that are so many steps apart.
double SharedOver(int steps) {
  static const std::array shares = [] {
    std::array<double, 64> values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::exp(-double(i) / kAxisReach);
    return values;
  }();
  return size_t(steps) < shares.size() ? shares[size_t(steps)] : 0;
}

}  // namespace

double ErrorCovariance(const Plan& first, const Plan& second) {
  if (first.family != second.family) return 0;
  const std::span<const Axis> axes = GetFamily(first.family).axes;
  double shared = 0;
  int distance = 0;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const int steps = Steps(axes[axis], first.values[axis], second.values[axis]);
    shared += SharedOver(steps);
    distance += std::min(steps, 2);
  }
  return Squared(kFamilyDeviation) + Squared(kAxisDeviation) * shared +
         Squared(kRestDeviation) * std::exp(-distance / kRestReach);
}

}  // namespace gemmsmith
