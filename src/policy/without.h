// What a policy was trained without, so that one sees what each part of the method is worth.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// Contexts are made without these parts wherever the policy is asked, too.
struct Without {
  bool contrast = false;  // exemplars, and so what would be said of them
  bool counters = false;  // of exemplars, and as reasons of an analysis
  bool mask = false;      // when plans are drawn to learn by reward: any plan that can be written may come
  bool analysis = false;
  bool prior = false;  // what prediction believes of plans (policy/prior.h)
  bool operator==(const Without&) const = default;
};
// What either of them leaves out.
Without Union(const Without& a, const Without& b);
// "contrast,counters,mask,analysis,prior"; "" where nothing is left out. Parsing takes them in any order, each once.
std::string Print(const Without& without);
Result<Without> ParseWithout(std::string_view text);

}  // namespace gemmsmith
