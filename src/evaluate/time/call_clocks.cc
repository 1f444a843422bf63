#include "evaluate/time/call_clocks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/seconds.h"

namespace gemmsmith {

int CallsBefore(const Shape& shape, uint64_t l2_bytes) {
  constexpr int kBytesAnElement = 2, kMax = 8;
  constexpr double kTimesL2 = 16;
  const double bytes = kBytesAnElement * (1.0 * shape.m * shape.k + 1.0 * shape.n * shape.k + 1.0 * shape.m * shape.n);
  if (bytes <= double(l2_bytes) / 2) return 1;
  return std::clamp(int(std::ceil(kTimesL2 * double(l2_bytes) / bytes)), 1, kMax);
}

Result<std::unique_ptr<RoundClock>> OfflineClock::Create(Gpu& gpu, std::vector<PutCall> calls, int calls_before) {
  std::unique_ptr<OfflineClock> clock(new OfflineClock(gpu, std::move(calls), calls_before));
  ASSIGN_OR_RETURN(clock->events_, EventPair::MakeSeveral(gpu, clock->calls_.size()));
  return std::unique_ptr<RoundClock>(std::move(clock));
}

Result<std::vector<double>> OfflineClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  for (size_t i : order) {
    for (int call = 0; call < calls_before_; ++call) RETURN_IF_ERROR(calls_[i]());
    RETURN_IF_ERROR(gpu_.Record(events_[i].first));
    RETURN_IF_ERROR(calls_[i]());
    RETURN_IF_ERROR(gpu_.Record(events_[i].last));
  }
  std::vector<double> times(calls_.size());
  for (size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(times[i], gpu_.ElapsedNs(events_[i].first, events_[i].last));
  }
  return times;
}

// Uniform() is below 1, so the logarithm's argument is above 0.
double Gaps::NextSeconds() { return -mean_seconds_ * std::log(1 - random_.Uniform()); }

Result<std::unique_ptr<RoundClock>> ServerClock::Create(Gpu& gpu, std::vector<PutCall> calls, Gaps gaps) {
  ASSIGN_OR_RETURN(EventPair events, EventPair::Make(gpu));
  return std::unique_ptr<RoundClock>(new ServerClock(gpu, std::move(calls), std::move(events), gaps));
}

Result<std::vector<double>> ServerClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  std::vector<double> times(calls_.size());
  for (size_t i : order) {
    on_wait(i);
    std::this_thread::sleep_for(std::chrono::duration<double>(gaps_.NextSeconds()));
    RETURN_IF_ERROR(gpu_.Record(events_.first));
    RETURN_IF_ERROR(calls_[i]());
    RETURN_IF_ERROR(gpu_.Record(events_.last));
    ASSIGN_OR_RETURN(times[i], gpu_.ElapsedNs(events_.first, events_.last));
  }
  return times;
}

Result<std::vector<double>> HostClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  std::vector<double> times(calls_.size());
  for (size_t i : order) {
    on_wait(i);
    const auto start = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(calls_[i]());
    RETURN_IF_ERROR(gpu_.Synchronize());
    times[i] = NsSince(start);
  }
  return times;
}

}  // namespace gemmsmith
