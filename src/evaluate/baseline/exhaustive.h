// The search behind lt_exhaustive: every configuration of every algorithm is tried, as far as the seconds reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "gpu/lt_configs.h"

namespace gemmsmith {

// The search's interface to the library and the GPU.
class LtTrials {
 public:
  virtual ~LtTrials() = default;
  // A number for a configuration that passes the library's check.
  virtual std::optional<int> Check(const LtConfig& config) = 0;
  // The time of a call in nanoseconds, roughly; nothing where it does not run after all.
  virtual Result<std::optional<double>> Time(int algorithm) = 0;
  virtual double SecondsSpent() = 0;
};

struct Exhausted {
  std::vector<int> fastest_first;  // of those that ran, as many as were asked for
  uint64_t space = 0, tried = 0;   // configurations with k not split
  int passed = 0, timed = 0;       // with k split too
  std::string Print() const;       // "1830 of 1200000 configurations tried, 411 passed with ..."
};

// In an order that jumps through the space, for 60 % of the seconds; then the splits and swizzles of the fastest.
Result<Exhausted> SearchExhaustively(const LtConfigSpace& space, LtTrials& trials, double seconds, size_t wanted,
                                     Random& random);

}  // namespace gemmsmith
