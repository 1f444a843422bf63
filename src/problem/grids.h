// Named sets of shapes, and the classes in which results are told.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "problem/gemm.h"

namespace gemmsmith {

// Classes by what limits a shape on Hopper; tested in this order, the first that holds is the class.
enum class ShapeClass : uint8_t { kTiny, kLarge, kSplitK, kStore, kSkinny, kMid, kUpper };
std::string_view Name(ShapeClass shape_class);  // "tiny", "large", "splitk", "store", "skinny", "mid", "upper"
ShapeClass Classify(const Shape& shape);

struct NamedGrid {
  std::string_view name;
  std::string_view description;
  std::vector<Shape> shapes;
};
// "paper1000" (m, n, k each from 64 ... 16384), its classes as "paper1000/tiny" and so on, "offgrid" and "heldout".
const std::vector<NamedGrid>& NamedGrids();
// Of a shape of paper1000; nothing off it.
std::optional<ShapeClass> ClassOnGrid(const Shape& shape);
// A named grid or the path of a file with one shape a line ('#' comments).
Result<std::vector<Shape>> LoadShapes(std::string_view name_or_path);

}  // namespace gemmsmith
