// Named sets of shapes and problems, and the classes in which results are told.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "problem/gemm.h"

namespace gemmsmith {

// Classes by what limits a shape on Hopper; tested in this order, the first that holds is the class.
enum class ShapeClass : uint8_t { kTiny, kLarge, kSplitK, kStore, kSkinny, kMid, kUpper };
std::string_view Name(ShapeClass shape_class);  // "tiny", "large", "splitk", "store", "skinny", "mid", "upper"
ShapeClass Classify(const Shape& shape);

// A line of a list: a shape, how A and B are stored where the list says so, and the whole problem where a program's
// calls were recorded.
struct Product {
  Shape shape;
  std::optional<Layout> layout;
  std::optional<Gemm> gemm = std::nullopt;  // without a promise
  auto operator<=>(const Product&) const = default;
};
// Each shape once, in the order of the list.
std::vector<Shape> ShapesOf(const std::vector<Product>& products);
// Each product in its own layout, or in each of `layouts` where it names none; of `kind` in all but the layout. A whole
// problem stays what it is, but takes the promise of `kind`. Each
// problem once, in the order of the list; the layouts of a shape stand next to each other.
std::vector<Gemm> ProblemsOf(const std::vector<Product>& products, std::span<const Layout> layouts, GemmKind kind);

struct NamedGrid {
  std::string_view name;
  std::string_view description;
  std::vector<Product> products;
};
// "paper1000" (m, n, k each from 64 ... 16384), its classes as "paper1000/tiny" and so on, "offgrid", "heldout", and
// "models" (models.h) with its groups as "models/decode" and so on.
const std::vector<NamedGrid>& NamedGrids();
// Of a shape of paper1000; nothing off it.
std::optional<ShapeClass> ClassOnGrid(const Shape& shape);
// A named grid or the path of a file: shapes, each perhaps followed by its layout ('#' comments), or a record of
// products (product_record.h), the largest share first.
Result<std::vector<Product>> LoadProducts(std::string_view name_or_path);
// The same without layouts.
Result<std::vector<Shape>> LoadShapes(std::string_view name_or_path);

}  // namespace gemmsmith
