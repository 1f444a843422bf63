// The energy clock. Entries run alone, each for more than a second at a time. The GPU's own counter of energy is read
// at two of its updates.
#pragma once

#include <optional>

#include "evaluate/time/device_clock.h"
#include "gpu/nvml.h"

namespace gemmsmith {

// The clock's access to the GPU's counters and to time. Tests replace it.
struct EnergyMeter {
  std::function<Result<double>()> joules;  // moves every 20 to 100 ms
  std::function<Result<int>()> sm_clock_mhz;
  std::function<double()> seconds;  // a steady clock
  std::function<void(double seconds)> sleep;
};
// The NVML outlives it. Unavailable where it is null or has no such counter.
Result<EnergyMeter> MeterOf(const Nvml* nvml);

// The length of a window and of the warm-up before it. The warm-up brings clock and power to the entry's steady state,
// and the lagging counter past other entries' work.
inline constexpr double kEnergyWarmUpSeconds = 0.25, kEnergyWindowSeconds = 1;

struct EnergyWindow {
  double begin_seconds = 0, end_seconds = 0;  // of two updates of the counter, at least kEnergyWindowSeconds apart
  double watts = 0;                           // between them
  double sm_clock_mhz = 0;                    // median of some ten readings
};
// Watches a GPU that works from now on; `feed` is called every half millisecond or so and may put more work on it.
// Unavailable where the counter stands still.
Result<EnergyWindow> WatchEnergy(const EnergyMeter& meter, const std::function<Status()>& feed);

// Replays of a graph that fill a window and what comes before and after it, also where a call takes a fifth less than
// `call_ns`.
int EnergyReplays(double call_ns, int calls);

// An entry's graph and what a call of it takes, roughly.
struct EnergyVisit {
  const CallGraph* graph = nullptr;
  double call_ns = 0;
};

class EnergyClock : public RoundClock {
 public:
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, std::vector<EnergyVisit> visits, EnergyMeter meter);

  // Nanojoules a call. Unavailable where an entry was done before its window was.
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;
  // Takes the timing's values for the nanojoules they are, and puts the times of the same windows in their place.
  void Complete(size_t entry, std::span<const int> rounds, Timing& timing) const override;

 private:
  struct Reading {
    double call_ns = 0, joules = 0, watts = 0, sm_clock_mhz = 0;  // ns and joules a call
  };
  using Round = std::vector<std::optional<Reading>>;  // by entry

  EnergyClock(Gpu& gpu, std::vector<EnergyVisit> visits, EnergyMeter meter, EventPair events, Event timed_begin)
      : gpu_(gpu),
        visits_(std::move(visits)),
        meter_(std::move(meter)),
        events_(std::move(events)),
        timed_begin_(std::move(timed_begin)) {}
  Result<Reading> Read(const EnergyVisit& visit);

  Gpu& gpu_;
  std::vector<EnergyVisit> visits_;  // what a call takes is known better after each
  const EnergyMeter meter_;
  const EventPair events_;
  const Event timed_begin_;
  std::vector<Round> rounds_;
};

}  // namespace gemmsmith
