// The interface of all clocks: visits the entries of a race in an order and returns the time of a call of each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// Puts one call of an entry on the GPU's stream.
using PutCall = std::function<Status()>;
// Told which entry the clock waits for next.
using WaitListener = std::function<void(size_t entry)>;

struct Timing;

class RoundClock {
 public:
  virtual ~RoundClock() = default;
  // Nanoseconds a call (of the energy clock: nanojoules), by entry, of those in `order`, which are visited in this
  // order; what stands for the others means nothing.
  virtual Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) = 0;
  // Completes the timing of an entry over these of its rounds, counted from 0. Only the energy clock adds something.
  virtual void Complete(size_t /*entry*/, std::span<const int> /*rounds*/, Timing& /*timing*/) const {}
  // The first fault seen in a timed call of the entry; empty if none was seen. Only the ring looks.
  virtual std::string FaultOf(size_t /*entry*/) const { return ""; }
};

}  // namespace gemmsmith
