// The offline clock: two events around one call through its ordinary host path, call after call without pauses.
#pragma once

#include "evaluate/time/device_clock.h"

namespace gemmsmith {

class OfflineClock {
 public:
  static Result<OfflineClock> Create(Gpu& gpu, size_t contenders);

  // Nanoseconds a call, by contender, of those in `order`, one call each in this order.
  Result<std::vector<double>> TimeRound(std::span<const PutCall> calls, std::span<const size_t> order,
                                        const WaitListener& on_wait);

 private:
  explicit OfflineClock(Gpu& gpu) : gpu_(gpu) {}

  Gpu& gpu_;
  std::vector<std::pair<Event, Event>> events_;
};

}  // namespace gemmsmith
