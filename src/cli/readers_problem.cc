// Shapes and their lists, layouts and types.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::array<std::string_view, 4> kLayoutWords = {"nn", "tn", "col-row", "col-col"};
constexpr std::array<std::string_view, 5> kLayoutSetWords = {"nn", "tn", "both", "col-row", "col-col"};
constexpr std::array<std::string_view, 2> kTypeWords = {"f16", "bf16"};
constexpr std::array<std::string_view, 2> kAccumulationWords = {"f32", "f16"};

Result<std::vector<Product>> ProductsOf(std::string_view word) {
  if (const Result<Shape> shape = ParseShape(word); shape.ok()) return std::vector<Product>{{*shape, std::nullopt}};
  return LoadProducts(word);
}

}  // namespace

Result<OptimizeTarget> ReadTarget(std::string_view text) {
  const Result<Shape> shape = ParseShape(text);
  if (shape.ok()) return OptimizeTarget{.shape = *shape};
  std::vector<std::string_view> known;
  for (const NamedGrid& grid : NamedGrids()) known.push_back(grid.name);
  std::vector<std::string_view> unknown;
  const std::vector<std::string_view> words = Split(text, ',');
  for (const std::string_view word : words) {
    std::error_code error;
    const bool is_set = std::find(known.begin(), known.end(), word) != known.end();
    if (is_set) continue;
    const std::filesystem::file_status file = std::filesystem::status(word, error);
    if (!word.empty() && error && file.type() != std::filesystem::file_type::not_found)
      return IoError(fmt::format("cannot read '{}': {}", word, error.message()));
    if (word.empty() || !std::filesystem::exists(file) || std::filesystem::is_directory(file)) unknown.push_back(word);
  }
  if (unknown.empty()) return OptimizeTarget{.set = std::string(text)};
  // Of a list the word that is wrong; what is no list is taken for one wrong word.
  const std::string_view wrong = unknown.size() < words.size() && !unknown[0].empty() ? unknown[0] : text;
  if (const std::optional<std::string> nearest = NearestWord(wrong, known))
    return InvalidArgument(fmt::format("'{}' is not a shape, a set or a file; did you mean '{}'?", wrong, *nearest));
  if (wrong.size() < text.size())
    return InvalidArgument(fmt::format("'{}' is neither a named set nor a file of shapes that exists", wrong));
  return InvalidArgument(shape.status().message() + ", or a named set, or a file of shapes");
}

Result<std::vector<Product>> LoadProductLists(std::string_view text) {
  std::vector<Product> products;
  std::set<Product> known;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(const std::vector<Product> list, ProductsOf(word));
    for (const Product& product : list)
      if (known.insert(product).second) products.push_back(product);
  }
  return products;
}

Result<std::vector<Shape>> LoadShapeLists(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Product> products, LoadProductLists(text));
  return ShapesOf(products);
}

Result<std::string> ReadShapeWords(std::string_view text) {
  if (text == "all") return std::string(text);
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(text, ','))
    if (!ParseShape(word).ok()) words.push_back(word);
  std::vector<std::string> names(words.begin(), words.end());
  if (!names.empty()) RETURN_IF_ERROR(ReadTarget(Join(names, ",")).status());
  return std::string(text);
}

Result<Layout> ReadLayout(std::string_view text) {
  const Result<Layout> layout = ParseLayout(text);
  return layout.ok() ? layout : NoSuchWord("layout", text, kLayoutWords);
}

Result<std::vector<Layout>> ReadLayouts(std::string_view text) {
  if (text == "both") return std::vector<Layout>{kNn, kTn};
  std::vector<Layout> layouts;
  for (const std::string_view word : Split(text, ',')) {
    const Result<Layout> layout = ReadLayout(word);
    if (word == "both") return InvalidArgument(fmt::format("'{}': 'both' stands alone", text));
    if (!layout.ok()) return NoSuchWord("layout", word, kLayoutSetWords);
    if (std::find(layouts.begin(), layouts.end(), *layout) == layouts.end()) layouts.push_back(*layout);
  }
  return layouts;
}

Result<ScalarType> ReadType(std::string_view text) {
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
    if (Name(type) == text) return type;
  }
  return NoSuchWord("type", text, kTypeWords);
}

Result<std::vector<ScalarType>> ReadTypes(std::string_view text) {
  std::vector<ScalarType> types;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(const ScalarType type, ReadType(word));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

Result<Accumulation> ReadAccumulation(std::string_view text) {
  for (const Accumulation accumulation : {Accumulation::kF32, Accumulation::kF16}) {
    if (Name(accumulation) == text) return accumulation;
  }
  return NoSuchWord("accumulation", text, kAccumulationWords);
}

}  // namespace gemmsmith
