// Ablations: parts of the method that a policy is trained without, to measure what each is worth.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// Contexts are made without these parts wherever the policy is asked, too.
struct Ablations {
  bool contrast = false;  // exemplars, and so what would be said of them
  bool counters = false;  // of exemplars, and as reasons of an analysis
  bool mask = false;      // when plans are drawn to learn by reward: any plan that can be written may come
  bool analysis = false;
  bool prior = false;  // predicted times as a prior over plans (policy/prior.h)
  bool operator==(const Ablations&) const = default;
};
// The parts that either of them leaves out.
Ablations Union(const Ablations& a, const Ablations& b);
// "contrast,counters,mask,analysis,prior"; "" where nothing is left out. Parsing takes them in any order, each once.
std::string Print(const Ablations& ablations);
Result<Ablations> ParseAblations(std::string_view text);

}  // namespace gemmsmith
