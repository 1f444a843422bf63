#include "evaluate/time/offline_clock.h"

namespace gemmsmith {

Result<OfflineClock> OfflineClock::Create(Gpu& gpu, size_t contenders) {
  OfflineClock clock(gpu);
  for (size_t i = 0; i < contenders; ++i) {
    ASSIGN_OR_RETURN(Event first, gpu.MakeEvent());
    ASSIGN_OR_RETURN(Event last, gpu.MakeEvent());
    clock.events_.emplace_back(std::move(first), std::move(last));
  }
  return clock;
}

Result<std::vector<double>> OfflineClock::TimeRound(std::span<const PutCall> calls, std::span<const size_t> order,
                                                    const WaitListener& on_wait) {
  for (size_t i : order) {
    RETURN_IF_ERROR(gpu_.Record(events_[i].first));
    RETURN_IF_ERROR(calls[i]());
    RETURN_IF_ERROR(gpu_.Record(events_[i].second));
  }
  std::vector<double> times(calls.size());
  for (size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(times[i], gpu_.ElapsedNs(events_[i].first, events_[i].second));
  }
  return times;
}

}  // namespace gemmsmith
