// What every clock does: it visits contenders one after the other and says how long a call of each took.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// Puts one call of a contender on the GPU's stream.
using PutCall = std::function<Status()>;
// Told which contender the clock waits for next.
using WaitListener = std::function<void(size_t contender)>;

struct Timing;

class RoundClock {
 public:
  virtual ~RoundClock() = default;
  // Nanoseconds a call (of the energy clock: nanojoules), by contender, of those in `order`, which are visited in this
  // order; what stands for the others means nothing.
  virtual Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) = 0;
  // What those values do not tell of a contender in these of its rounds, counted from the first one. Only the energy
  // clock has something to add.
  virtual void Complete(size_t /*contender*/, std::span<const int> /*rounds*/, Timing& /*timing*/) const {}
};

}  // namespace gemmsmith
