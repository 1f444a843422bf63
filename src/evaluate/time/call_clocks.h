// The clocks of single calls through their ordinary host path: back to back, after idle gaps, and as the host sees
// them.
#pragma once

#include "base/random.h"
#include "evaluate/time/round_clock.h"
#include "gpu/gpu.h"
#include "problem/gemm.h"

namespace gemmsmith {

// How many calls of an entry come before the one that is timed, so that L2 holds what its own calls leave there. As
// many as bring sixteen times what L2 holds, but eight at most. One where a call asks for no more than half of L2. One
// is too few for operands of 67 to 268 MB: parts of them stay from call to call, and other entries' data stays longer.
// Against seven other entries, our 36 kernels took 2.1 % more behind one call of their own than behind twelve (up to
// 8). cuBLASLt's took 1.0 % more; both took 0.6 behind four (six skinny products, H200, 2026-11-27).
int CallsBefore(const Shape& shape, uint64_t l2_bytes);

// Two events around one call, call after call without pauses. `calls_before` calls of the same entry come before the
// timed one. A round's first call then finds no idle GPU, which would time the host (3 us more, H200).
class OfflineClock : public RoundClock {
 public:
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, std::vector<PutCall> calls, int calls_before);
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;

 private:
  OfflineClock(Gpu& gpu, std::vector<PutCall> calls, int calls_before)
      : gpu_(gpu), calls_(std::move(calls)), calls_before_(calls_before) {}

  Gpu& gpu_;
  const std::vector<PutCall> calls_;
  const int calls_before_;
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

// Two events around one call, which the host waits for. The host sleeps before each call, so that the GPU idles as in a
// server. L2 holds what other entries' calls have left.
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
