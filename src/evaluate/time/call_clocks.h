// The clocks of single calls through their ordinary host path: back to back, after idle gaps, and as the host sees
// them.
#pragma once

#include "base/random.h"
#include "evaluate/time/round_clock.h"
#include "gpu/gpu.h"

namespace gemmsmith {

// Two events around one call, call after call without pauses. The call before is the same contender's, so that L2 holds
// what its own call leaves there, whoever else races; and a round's first one finds no idle GPU, whose time would be
// the host's (3 us more, H200).
class OfflineClock : public RoundClock {
 public:
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, std::vector<PutCall> calls);
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;

 private:
  OfflineClock(Gpu& gpu, std::vector<PutCall> calls) : gpu_(gpu), calls_(std::move(calls)) {}

  Gpu& gpu_;
  const std::vector<PutCall> calls_;
  std::vector<EventPair> events_;
};

// The idle time between the end of a request and the arrival of the next: exponentially distributed.
class Gaps {
 public:
  static constexpr double kRequestsPerSecond = 1000;

  explicit Gaps(Random random, double requests_per_second = kRequestsPerSecond)
      : random_(random), mean_seconds_(1 / requests_per_second) {}
  double NextSeconds();

 private:
  Random random_;
  double mean_seconds_;
};

// As the offline clock, but each call is waited for, and before each the host sleeps: nobody touches the GPU in a gap,
// so that it idles as a server's does.
class ServerClock : public RoundClock {
 public:
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, std::vector<PutCall> calls, Gaps gaps);
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;

 private:
  ServerClock(Gpu& gpu, std::vector<PutCall> calls, EventPair events, Gaps gaps)
      : gpu_(gpu), calls_(std::move(calls)), events_(std::move(events)), gaps_(gaps) {}

  Gpu& gpu_;
  const std::vector<PutCall> calls_;
  const EventPair events_;
  Gaps gaps_;
};

// The host's clock around a call and the wait for its end, on an idle stream.
class HostClock : public RoundClock {
 public:
  HostClock(Gpu& gpu, std::vector<PutCall> calls) : gpu_(gpu), calls_(std::move(calls)) {}
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;

 private:
  Gpu& gpu_;
  const std::vector<PutCall> calls_;
};

}  // namespace gemmsmith
