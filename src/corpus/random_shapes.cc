#include "corpus/random_shapes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "problem/grids.h"

namespace gemmsmith {

namespace {

int RandomSize(Random& random) {
  const double octaves = std::log2(double(kMostRandomSize) / kLeastRandomSize);
  const double size = kLeastRandomSize * std::exp2(octaves * random.Uniform());
  return int(std::lround(size / 8)) * 8;
}

}  // namespace

std::vector<Shape> RandomShapes(int count, const HeldOut& held_out, Random random) {
  const HeldOut by_size{.sizes = held_out.sizes};
  const std::vector<Shape> compared = *LoadShapes("heldout");
  std::set<Shape> taken(compared.begin(), compared.end());
  std::vector<Shape> shapes;
  while (shapes.size() < size_t(count)) {
    const int m = RandomSize(random), n = RandomSize(random), k = RandomSize(random);
    if (const Shape shape{m, n, k}; !IsHeldOut(shape, by_size) && taken.insert(shape).second) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace gemmsmith
