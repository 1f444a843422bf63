// How the numbers in winning plans (tiles, stages, splits) go with the size of the problem.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/winning_plans.h"

namespace gemmsmith {

enum class Extent { kM, kN, kK, kMN, kMNK };
inline constexpr Extent kExtents[] = {Extent::kM, Extent::kN, Extent::kK, Extent::kMN, Extent::kMNK};
inline constexpr std::string_view kExtentNames[] = {"m", "n", "k", "mn", "mnk"};
inline std::string_view Name(Extent extent) { return kExtentNames[size_t(extent)]; }
double SizeOf(const Shape& shape, Extent extent);

// Winners whose extent is 2^low and more, below 2^high: an octave of m, n and k, two of their products.
struct Octave {
  int low = 0, high = 0;
  Tally values;
  double median = 0;  // of the values
};

// An axis of a family, a product of two (tile_m*tile_n, cluster_m*cluster_n).
struct AxisPattern {
  std::string family, axis;
  int winners = 0;  // with a number on it: a ring has a number of stages, a resident K has not
  std::array<std::optional<double>, std::size(kExtents)> correlation;  // of ranks; nothing where nothing varies
  std::optional<Extent> follows;  // the extent of the strongest correlation, of equals the first
  std::vector<Octave> octaves;    // of that extent

  double Correlation() const { return *correlation[size_t(*follows)]; }
};

// How the extents of a family's winners go together.
struct FamilyExtents {
  std::string family;
  int winners = 0;
  std::optional<double> mn_with_k;  // of ranks
};
std::vector<FamilyExtents> ExtentsOfFamilies(const std::vector<WinningPlan>& winners);

// Of axes on which the winners have numbers at all, family by family.
std::vector<AxisPattern> AxisPatterns(const std::vector<WinningPlan>& winners);

}  // namespace gemmsmith
