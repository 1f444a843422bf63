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

class RoundClock {
 public:
  virtual ~RoundClock() = default;
  // Nanoseconds a call, by contender, of those in `order`, which are visited in this order; what stands for the others
  // means nothing.
  virtual Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) = 0;
};

}  // namespace gemmsmith
