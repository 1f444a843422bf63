#include "problem/grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "problem/models.h"
#include "problem/product_record.h"

namespace gemmsmith {

namespace {

constexpr int kPaperSizes[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384};

std::vector<Shape> PaperShapes() {
  std::vector<Shape> shapes;
  for (int m : kPaperSizes)
    for (int n : kPaperSizes)
      for (int k : kPaperSizes) shapes.push_back({m, n, k});
  return shapes;
}

// Ragged edges, single rows, primes and sizes that models really have.
const std::vector<Shape>& OffGridShapes() {
  static const std::vector<Shape> shapes = {{1, 1, 1},       {17, 31, 63},     {100, 100, 100},  {300, 3584, 460},
                                            {1, 4096, 4096}, {7, 768, 768},    {33, 1000, 2000}, {197, 768, 768},
                                            {65, 129, 257},  {500, 500, 1000}, {384, 1536, 96},  {96, 80, 3000}};
  return shapes;
}

// What policies are compared on: 40 of the paper's shapes, of every class, and 20 off the grid, all of the recorded
// space and all kept out of training (held_out.h).
const std::vector<Shape>& HeldOutShapes() {
  static const std::vector<Shape> shapes = {
      {64, 64, 512},       {64, 128, 512},     {512, 256, 64},     {512, 256, 128},    {64, 8192, 64},
      {512, 64, 1024},     {4096, 1024, 8192}, {4096, 16384, 512}, {12288, 512, 8192}, {12288, 512, 16384},
      {12288, 8192, 1024}, {512, 64, 2048},    {512, 128, 2048},   {64, 512, 16384},   {128, 512, 8192},
      {256, 512, 4096},    {128, 2048, 8192},  {512, 256, 16384},  {8192, 512, 64},    {1024, 8192, 128},
      {16384, 512, 128},   {8192, 12288, 64},  {8192, 4096, 256},  {64, 8192, 12288},  {128, 8192, 8192},
      {8192, 128, 8192},   {8192, 256, 4096},  {128, 8192, 12288}, {128, 8192, 64},    {64, 4096, 512},
      {8192, 64, 256},     {4096, 512, 128},   {16384, 64, 512},   {4096, 512, 512},   {512, 4096, 1024},
      {1024, 1024, 8192},  {16384, 512, 1024}, {2048, 12288, 512}, {12288, 512, 2048}, {8192, 512, 4096},
      {1, 4096, 4096},     {8, 4096, 4096},    {17, 31, 63},       {100, 200, 300},    {300, 3584, 456},
      {333, 328, 1000},    {1000, 1032, 264},  {200, 2048, 1032},  {1000, 1000, 1000}, {96, 4104, 712},
      {1536, 1536, 1536},  {3072, 768, 768},   {77, 768, 3072},    {2048, 5120, 640},  {4000, 320, 2880},
      {127, 255, 511},     {1, 128256, 4096},  {16, 14336, 4096},  {129, 1000, 8200},  {4095, 4096, 128}};
  return shapes;
}

std::vector<Product> InAnyLayout(const std::vector<Shape>& shapes) {
  std::vector<Product> products;
  for (const Shape& shape : shapes) products.push_back({shape, std::nullopt});
  return products;
}

std::vector<Product> ProductsOfModels(std::optional<ModelGroup> group) {
  std::vector<Product> products;
  std::set<Product> known;
  for (const ModelProduct& row : ModelProducts()) {
    const Product product{row.shape, row.layout};
    if ((!group || GroupOf(row.shape) == *group) && known.insert(product).second) products.push_back(product);
  }
  return products;
}

std::vector<NamedGrid> MakeGrids() {
  std::vector<NamedGrid> grids;
  grids.push_back({"paper1000", "m, n, k each from 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384",
                   InAnyLayout(PaperShapes())});
  constexpr std::pair<ShapeClass, std::string_view> kClasses[] = {
      {ShapeClass::kTiny, "paper1000/tiny"},     {ShapeClass::kLarge, "paper1000/large"},
      {ShapeClass::kSplitK, "paper1000/splitk"}, {ShapeClass::kStore, "paper1000/store"},
      {ShapeClass::kSkinny, "paper1000/skinny"}, {ShapeClass::kMid, "paper1000/mid"},
      {ShapeClass::kUpper, "paper1000/upper"}};
  for (const auto& [shape_class, name] : kClasses) {
    std::vector<Shape> shapes = PaperShapes();
    std::erase_if(shapes, [c = shape_class](const Shape& shape) { return Classify(shape) != c; });
    grids.push_back({name, "the shapes of one class of paper1000", InAnyLayout(shapes)});
  }
  grids.push_back(
      {"offgrid", "ragged, odd and single-row shapes, and sizes of common models", InAnyLayout(OffGridShapes())});
  grids.push_back({"heldout", "what policies are compared on and never trained with", InAnyLayout(HeldOutShapes())});
  grids.push_back({"models", "the products of public models, each in its layout", ProductsOfModels(std::nullopt)});
  constexpr std::pair<ModelGroup, std::string_view> kGroups[] = {{ModelGroup::kDecode, "models/decode"},
                                                                 {ModelGroup::kMiddle, "models/middle"},
                                                                 {ModelGroup::kLarge, "models/large"}};
  for (const auto& [group, name] : kGroups)
    grids.push_back({name, "the products of models with few, more and many rows", ProductsOfModels(group)});
  return grids;
}

// Appends what the words of one line name.
Status AddLine(const std::vector<std::string_view>& words, std::vector<Product>& products) {
  bool follows_shape = false;
  for (const std::string_view word : words) {
    if (const Result<Layout> layout = ParseLayout(word); layout.ok() && follows_shape) {
      products.back().layout = *layout;
      follows_shape = false;
      continue;
    }
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(word));
    products.push_back({shape, std::nullopt});
    follows_shape = true;
  }
  return OkStatus();
}

Result<std::vector<Product>> ProductsOf(const ProductRecord& record, const std::filesystem::path& path) {
  std::vector<Product> products;
  for (const ProductRecord::Line& line : record.Lines())
    if (line.gemm) products.push_back({line.gemm->shape, line.gemm->kind.layout, line.gemm});
  if (products.empty()) return InvalidArgument(fmt::format("{} holds no product that a search knows", path.string()));
  return products;
}

Result<std::vector<Product>> ReadProducts(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::optional<ProductRecord> record, ReadProductRecord(path));
  if (record) return ProductsOf(*record, path);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<Product> products;
  for (const ListLine& line : ListLines(text))
    if (const Status status = AddLine(SplitWords(line.text), products); !status.ok())
      return InvalidArgument(fmt::format("{}:{}: {}", path.string(), line.number, status.message()));
  if (products.empty()) return InvalidArgument(fmt::format("{} holds no shape", path.string()));
  return products;
}

}  // namespace

std::string_view Name(ShapeClass shape_class) {
  switch (shape_class) {
    case ShapeClass::kTiny:
      return "tiny";
    case ShapeClass::kLarge:
      return "large";
    case ShapeClass::kSplitK:
      return "splitk";
    case ShapeClass::kStore:
      return "store";
    case ShapeClass::kSkinny:
      return "skinny";
    case ShapeClass::kMid:
      return "mid";
    case ShapeClass::kUpper:
      return "upper";
  }
  GEMMSMITH_CHECK(false, "shape class {}", int(shape_class));
  return "";
}

ShapeClass Classify(const Shape& shape) {
  const auto [m, n, k] = shape;
  const double volume = shape.Volume(), mn = double(m) * n;
  const int shorter = std::min(m, n), longer = std::max(m, n);
  constexpr auto power = [](int exponent) { return double(int64_t{1} << exponent); };
  if (volume < power(26)) return ShapeClass::kTiny;
  if (volume > power(34) && shorter > 256 && k > 256) return ShapeClass::kLarge;
  if (mn <= power(18) && k >= 1024) return ShapeClass::kSplitK;
  if (k <= 256 && mn >= power(22)) return ShapeClass::kStore;
  if (shorter <= 256 && longer >= 4096 && k >= 4096) return ShapeClass::kSkinny;
  if (volume <= power(32)) return ShapeClass::kMid;
  return ShapeClass::kUpper;
}

const std::vector<NamedGrid>& NamedGrids() {
  static const std::vector<NamedGrid> grids = MakeGrids();
  return grids;
}

std::vector<Shape> ShapesOf(const std::vector<Product>& products) {
  std::vector<Shape> shapes;
  std::set<Shape> known;
  for (const Product& product : products)
    if (known.insert(product.shape).second) shapes.push_back(product.shape);
  return shapes;
}

std::vector<Gemm> ProblemsOf(const std::vector<Product>& products, std::span<const Layout> layouts, GemmKind kind) {
  std::map<Shape, std::vector<Gemm>> by_shape;
  const auto add = [&](Gemm gemm) {
    gemm.kind.constant_b = kind.constant_b;
    std::vector<Gemm>& problems = by_shape[gemm.shape];
    if (std::ranges::find(problems, gemm) == problems.end()) problems.push_back(gemm);
  };
  const auto add_in = [&](const Shape& shape, const Layout& layout) {
    kind.layout = layout;
    add({.shape = shape, .kind = kind});
  };
  for (const Product& product : products) {
    if (product.gemm)
      add(*product.gemm);
    else if (product.layout)
      add_in(product.shape, *product.layout);
    else
      for (const Layout& layout : layouts) add_in(product.shape, layout);
  }
  std::vector<Gemm> problems;
  for (const Shape& shape : ShapesOf(products))
    problems.insert(problems.end(), by_shape[shape].begin(), by_shape[shape].end());
  return problems;
}

std::optional<ShapeClass> ClassOnGrid(const Shape& shape) {
  static const std::vector<Shape> grid = *LoadShapes("paper1000");  // sorted
  if (!std::binary_search(grid.begin(), grid.end(), shape)) return std::nullopt;
  return Classify(shape);
}

Result<std::vector<Product>> LoadProducts(std::string_view name_or_path) {
  std::vector<std::string_view> names;
  for (const NamedGrid& grid : NamedGrids()) {
    if (grid.name == name_or_path) return grid.products;
    names.push_back(grid.name);
  }
  if (std::filesystem::exists(name_or_path)) return ReadProducts(name_or_path);
  return NotFound(
      fmt::format("'{}' is neither a named set of shapes ({}) nor a file", name_or_path, fmt::join(names, ", ")));
}

Result<std::vector<Shape>> LoadShapes(std::string_view name_or_path) {
  ASSIGN_OR_RETURN(const std::vector<Product> products, LoadProducts(name_or_path));
  return ShapesOf(products);
}

}  // namespace gemmsmith
