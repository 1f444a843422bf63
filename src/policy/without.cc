#include "policy/without.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace gemmsmith {

namespace {

struct Part {
  std::string_view name;
  bool Without::*is_left_out;
};
constexpr Part kParts[] = {{"contrast", &Without::contrast},
                           {"counters", &Without::counters},
                           {"mask", &Without::mask},
                           {"analysis", &Without::analysis},
                           {"prior", &Without::prior}};

}  // namespace

Without Union(const Without& a, const Without& b) {
  Without both = a;
  for (const Part& part : kParts) both.*part.is_left_out |= b.*part.is_left_out;
  return both;
}

std::string Print(const Without& without) {
  std::vector<std::string> names;
  for (const Part& part : kParts)
    if (without.*part.is_left_out) names.emplace_back(part.name);
  return Join(names, ",");
}

Result<Without> ParseWithout(std::string_view text) {
  Without without;
  if (text.empty()) return without;
  for (const std::string_view word : Split(text, ',')) {
    const auto part = std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& p) { return p.name == word; });
    if (part == std::end(kParts))
      return InvalidArgument(
          fmt::format("'{}' is no part to train without; there are contrast, counters, mask, analysis and prior",
                      WithoutControls(word)));
    if (without.*part->is_left_out) return InvalidArgument(fmt::format("'{}' stands there twice", word));
    without.*part->is_left_out = true;
  }
  return without;
}

}  // namespace gemmsmith
