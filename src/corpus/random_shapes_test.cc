#include "corpus/random_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "problem/grids.h"

namespace gemmsmith {
namespace {

TEST(RandomShapes, AreWithinTheirBoundsAndNotHeldOut) {
  const HeldOut held_out{.sizes = {512, 8192}, .off_grid = true};
  const std::vector<Shape> shapes = RandomShapes(2000, held_out, Random(1));
  ASSERT_EQ(shapes.size(), 2000u);
  EXPECT_EQ(std::set<Shape>(shapes.begin(), shapes.end()).size(), 2000u);
  const std::vector<Shape> compared = *LoadShapes("heldout");
  int small = 0, by_eights = 0;
  for (const Shape& shape : shapes) {
    for (const int size : {shape.m, shape.n, shape.k}) {
      EXPECT_GE(size, 1);
      EXPECT_LE(size, kMostRandomSize);
      EXPECT_NE(size, 512);
      EXPECT_NE(size, 8192);
    }
    EXPECT_EQ(std::ranges::count(compared, shape), 0);
    small += shape.m < 128;  // half of the powers of two
    by_eights += shape.m % 8 == 0;
  }
  EXPECT_NEAR(small, 1000, 150);
  EXPECT_NEAR(by_eights, 2000 * (1 + (2 + 1. / 8) / 3) / 2, 100);
}

TEST(RandomShapes, DependOnTheRandomNumbersAlone) {
  EXPECT_EQ(RandomShapes(50, {}, Random(1)), RandomShapes(50, {}, Random(1)));
  EXPECT_NE(RandomShapes(50, {}, Random(1)), RandomShapes(50, {}, Random(2)));
}

}  // namespace
}  // namespace gemmsmith
