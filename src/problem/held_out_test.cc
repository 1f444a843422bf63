#include "problem/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "problem/grids.h"

namespace gemmsmith {
namespace {

TEST(HeldOutTest, TakesWholeSizesOfAnyDimensionAndWhatIsOffTheGrid) {
  const HeldOut held_out = *ParseHeldOut("512,offgrid");
  EXPECT_TRUE(IsHeldOut({512, 64, 64}, held_out));
  EXPECT_TRUE(IsHeldOut({64, 512, 64}, held_out));
  EXPECT_TRUE(IsHeldOut({64, 64, 512}, held_out));
  EXPECT_TRUE(IsHeldOut({64, 64, 65}, held_out));
  EXPECT_FALSE(IsHeldOut({64, 8192, 64}, held_out));
  EXPECT_FALSE(IsHeldOut({64, 64, 65}, *ParseHeldOut("512")));
  EXPECT_FALSE(IsHeldOut({512, 64, 65}, {}));
}

TEST(HeldOutTest, TextRoundTripsAndStandardIsAWordForTheSplit) {
  EXPECT_EQ(*ParseHeldOut("standard"), StandardHeldOut());
  for (const char* text : {"512", "offgrid", "512,8192", "64,512,offgrid"}) EXPECT_EQ(Print(*ParseHeldOut(text)), text);
  EXPECT_EQ(*ParseHeldOut(Print(StandardHeldOut())), StandardHeldOut());
  for (const char* text : {"", "512,", "0", "-1", "off", "512,standard", "2147483648", "1e3"}) {
    const Result<HeldOut> held_out = ParseHeldOut(text);
    ASSERT_FALSE(held_out.ok()) << text;
    EXPECT_EQ(held_out.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(HeldOutTest, TheNamedSetIsHeldOutWholeAndOfEveryClass) {
  const std::vector<Shape> shapes = *LoadShapes("heldout");
  EXPECT_EQ(std::set<Shape>(shapes.begin(), shapes.end()).size(), shapes.size());
  const HeldOut by_size = {.sizes = StandardHeldOut().sizes};
  std::set<ShapeClass> classes;
  long on_grid = 0;
  for (const Shape& shape : shapes) {
    EXPECT_TRUE(IsHeldOut(shape, StandardHeldOut())) << Print(shape);
    if (IsHeldOut(shape, {.off_grid = true})) continue;
    EXPECT_TRUE(IsHeldOut(shape, by_size)) << Print(shape);
    classes.insert(Classify(shape));
    ++on_grid;
  }
  EXPECT_EQ(on_grid, 40);
  EXPECT_EQ(long(shapes.size()) - on_grid, 20);
  EXPECT_EQ(classes.size(), 7u);
}

}  // namespace
}  // namespace gemmsmith
