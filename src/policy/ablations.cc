#include "policy/ablations.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace gemmsmith {

namespace {

struct Part {
  std::string_view name;
  bool Ablations::*is_left_out;
};
constexpr Part kParts[] = {{"contrast", &Ablations::contrast},
                           {"counters", &Ablations::counters},
                           {"mask", &Ablations::mask},
                           {"analysis", &Ablations::analysis},
                           {"prior", &Ablations::prior}};

}  // namespace

Ablations Union(const Ablations& a, const Ablations& b) {
  Ablations both = a;
  for (const Part& part : kParts) both.*part.is_left_out |= b.*part.is_left_out;
  return both;
}

std::string Print(const Ablations& ablations) {
  std::vector<std::string> names;
  for (const Part& part : kParts)
    if (ablations.*part.is_left_out) names.emplace_back(part.name);
  return Join(names, ",");
}

Result<Ablations> ParseAblations(std::string_view text) {
  Ablations ablations;
  if (text.empty()) return ablations;
  for (const std::string_view word : Split(text, ',')) {
    const auto part = std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& p) { return p.name == word; });
    if (part == std::end(kParts))
      return InvalidArgument(
          fmt::format("'{}' is no part to train without; there are contrast, counters, mask, analysis and prior",
                      WithoutControls(word)));
    if (ablations.*part->is_left_out) return InvalidArgument(fmt::format("'{}' stands there twice", word));
    ablations.*part->is_left_out = true;
  }
  return ablations;
}

}  // namespace gemmsmith
