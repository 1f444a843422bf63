#include "corpus/random_shapes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "problem/grids.h"

namespace gemmsmith {

namespace {

constexpr int kGrains[] = {64, 8, 1};

// A multiple of one of the first so many grains.
int RandomSize(size_t grains, Random& random) {
  const double size = std::exp2(std::log2(double(kMostRandomSize)) * random.Uniform());
  const int grain = kGrains[random.Below(grains)];
  return std::max(1, int(std::lround(size / grain))) * grain;
}

}  // namespace

std::vector<Shape> RandomShapes(int count, const HeldOut& held_out, Random random) {
  const HeldOut by_size{.sizes = held_out.sizes};
  const std::vector<Shape> compared = *LoadShapes("heldout");
  std::set<Shape> taken(compared.begin(), compared.end());
  std::vector<Shape> shapes;
  while (shapes.size() < size_t(count)) {
    const size_t grains = std::size(kGrains) - random.Below(2);
    const int m = RandomSize(grains, random), n = RandomSize(grains, random), k = RandomSize(grains, random);
    if (const Shape shape{m, n, k}; !IsHeldOut(shape, by_size) && taken.insert(shape).second) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace gemmsmith
