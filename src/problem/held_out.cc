#include "problem/held_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "problem/grids.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kOffGrid = "offgrid", kStandard = "standard";

bool IsOfPapersGrid(const Shape& shape) {
  static const std::set<Shape> grid = [] {
    const std::vector<Shape> shapes = *LoadShapes("paper1000");
    return std::set<Shape>(shapes.begin(), shapes.end());
  }();
  return grid.contains(shape);
}

}  // namespace

HeldOut StandardHeldOut() { return {.sizes = {512, 8192}, .off_grid = true}; }

bool IsHeldOut(const Shape& shape, const HeldOut& held_out) {
  const auto has = [&](int size) { return held_out.sizes.contains(size); };
  return has(shape.m) || has(shape.n) || has(shape.k) || (held_out.off_grid && !IsOfPapersGrid(shape));
}

Result<HeldOut> ParseHeldOut(std::string_view text) {
  if (text == kStandard) return StandardHeldOut();
  HeldOut held_out;
  for (const std::string_view word : Split(text, ',')) {
    const std::optional<long long> size = ParseInteger(word);
    if (word == kOffGrid)
      held_out.off_grid = true;
    else if (size && *size >= 1 && *size <= 1 << 30)
      held_out.sizes.insert(int(*size));
    else
      return InvalidArgument(
          fmt::format("'{}' is not what shapes are held out by: a size, {} or {}", word, kOffGrid, kStandard));
  }
  return held_out;
}

std::string Print(const HeldOut& held_out) {
  std::vector<std::string> words;
  for (const int size : held_out.sizes) words.push_back(fmt::format("{}", size));
  if (held_out.off_grid) words.emplace_back(kOffGrid);
  return Join(words, ",");
}

}  // namespace gemmsmith
