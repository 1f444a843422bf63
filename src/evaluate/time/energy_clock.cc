#include "evaluate/time/energy_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/statistics.h"
#include "evaluate/time/pairing.h"
#include "outcome/outcome.h"

namespace gemmsmith {

namespace {

constexpr double kPollSeconds = 0.5e-3, kClockReadingSeconds = 0.1;
// The counter moves at least so often, and a GPU whose counter does not move in two seconds has none.
constexpr double kSlowestUpdateSeconds = 0.1, kStandsStillSeconds = 2;

// One window as it goes by.
class Watch {
 public:
  Watch(const EnergyMeter& meter, const std::function<Status()>& feed) : meter_(meter), feed_(feed) {}

  Result<EnergyWindow> Run() {
    const double start = meter_.seconds();
    RETURN_IF_ERROR(PollUntil(start + kEnergyWarmUpSeconds));
    ASSIGN_OR_RETURN(const Edge first, NextEdge());
    clocks_.clear();
    RETURN_IF_ERROR(PollUntil(first.seconds + kEnergyWindowSeconds));
    ASSIGN_OR_RETURN(const Edge last, NextEdge());
    return EnergyWindow{.begin_seconds = first.seconds,
                        .end_seconds = last.seconds,
                        .watts = (last.joules - first.joules) / (last.seconds - first.seconds),
                        .sm_clock_mhz = Median(clocks_)};
  }

 private:
  struct Edge {
    double joules = 0, seconds = 0;
  };

  Status Poll() {
    RETURN_IF_ERROR(feed_());
    if (const double now = meter_.seconds(); clocks_.empty() || now >= next_clock_) {
      ASSIGN_OR_RETURN(const int mhz, meter_.sm_clock_mhz());
      clocks_.push_back(mhz);
      next_clock_ = now + kClockReadingSeconds;
    }
    meter_.sleep(kPollSeconds);
    return OkStatus();
  }

  Status PollUntil(double seconds) {
    while (meter_.seconds() < seconds) RETURN_IF_ERROR(Poll());
    return OkStatus();
  }

  // When the counter moves next, and to where.
  Result<Edge> NextEdge() {
    const double start = meter_.seconds();
    ASSIGN_OR_RETURN(const double before, meter_.joules());
    while (meter_.seconds() < start + kStandsStillSeconds) {
      RETURN_IF_ERROR(Poll());
      ASSIGN_OR_RETURN(const double now, meter_.joules());
      if (now != before) return Edge{now, meter_.seconds()};
    }
    return Unavailable("the GPU's energy counter stands still while it works");
  }

  const EnergyMeter& meter_;
  const std::function<Status()>& feed_;
  std::vector<double> clocks_;
  double next_clock_ = 0;
};

}  // namespace

Result<EnergyMeter> MeterOf(const Nvml* nvml) {
  if (nvml == nullptr)
    return Unavailable("the energy clock reads the GPU's counter through NVML, which does not answer here");
  RETURN_IF_ERROR(nvml->EnergyJoules().status());
  using Seconds = std::chrono::duration<double>;
  return EnergyMeter{.joules = [nvml] { return nvml->EnergyJoules(); },
                     .sm_clock_mhz = [nvml] { return nvml->SmClockMhz(); },
                     .seconds = [] { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); },
                     .sleep = [](double seconds) { std::this_thread::sleep_for(Seconds(seconds)); }};
}

Result<EnergyWindow> WatchEnergy(const EnergyMeter& meter, const std::function<Status()>& feed) {
  return Watch(meter, feed).Run();
}

int EnergyReplays(double call_ns, int calls) {
  constexpr double kMargin = 1.25;
  const double seconds = kEnergyWarmUpSeconds + kEnergyWindowSeconds + 2 * kSlowestUpdateSeconds;
  return int(std::ceil(kMargin * seconds * 1e9 / (std::max(call_ns, 1.0) * calls)));
}

Result<std::unique_ptr<RoundClock>> EnergyClock::Create(Gpu& gpu, std::vector<EnergyVisit> visits, EnergyMeter meter) {
  ASSIGN_OR_RETURN(EventPair events, EventPair::Make(gpu));
  ASSIGN_OR_RETURN(Event timed_begin, gpu.MakeEvent());
  return std::unique_ptr<RoundClock>(
      new EnergyClock(gpu, std::move(visits), std::move(meter), std::move(events), std::move(timed_begin)));
}

// The work is put on the GPU while it is watched: more graphs than a stream's queue holds would make the host wait. At
// each look more than takes until the next one, but little more, or a full queue would keep the host from looking.
Result<EnergyClock::Reading> EnergyClock::Read(const EnergyVisit& visit) {
  constexpr double kPutAtOnceNs = 1.5e6;
  const int calls = visit.graph->calls, replays = EnergyReplays(visit.call_ns, calls);
  const double graph_ns = std::max(visit.call_ns, 1.0) * calls;
  const int untimed = std::min(replays - 1, int(kEnergyWarmUpSeconds * 1e9 / graph_ns));
  const int at_once = int(std::ceil(kPutAtOnceNs / graph_ns));
  int put = 0;
  const auto feed = [&]() -> Status {
    for (const int end = std::min(put + at_once, replays); put < end; ++put) {
      if (put == untimed) RETURN_IF_ERROR(gpu_.Record(timed_begin_));
      RETURN_IF_ERROR(gpu_.Replay(visit.graph->at(int(rounds_.size()))));
      if (put + 1 == replays) RETURN_IF_ERROR(gpu_.Record(events_.last));
    }
    return OkStatus();
  };
  RETURN_IF_ERROR(gpu_.Synchronize());
  const double start = meter_.seconds();
  RETURN_IF_ERROR(gpu_.Record(events_.first));
  ASSIGN_OR_RETURN(const EnergyWindow window, WatchEnergy(meter_, feed));
  while (put < replays) RETURN_IF_ERROR(feed());
  ASSIGN_OR_RETURN(const double all_ns, gpu_.ElapsedNs(events_.first, events_.last));
  ASSIGN_OR_RETURN(const double timed_ns, gpu_.ElapsedNs(timed_begin_, events_.last));
  Reading reading{.call_ns = timed_ns / (double(calls) * (replays - untimed)),
                  .watts = window.watts,
                  .sm_clock_mhz = window.sm_clock_mhz};
  reading.joules = window.watts * reading.call_ns / 1e9;
  // Its first work began no earlier than `start`, so that it ended no earlier than this.
  if (start + all_ns / 1e9 >= window.end_seconds) return reading;
  return Unavailable(
      fmt::format("a window of energy outlasted its work: a call took {:.1f} us, {:.1f} us was estimated",
                  reading.call_ns / 1e3, visit.call_ns / 1e3));
}

Result<std::vector<double>> EnergyClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  std::vector<double> values(visits_.size());
  Round round(visits_.size());
  for (const size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(round[i], Read(visits_[i]));
    visits_[i].call_ns = round[i]->call_ns;
    values[i] = round[i]->joules * 1e9;
  }
  rounds_.push_back(std::move(round));
  return values;
}

void EnergyClock::Complete(size_t entry, std::span<const int> rounds, Timing& timing) const {
  std::vector<double> times, watts, clocks;
  for (const int round : rounds)
    if (const std::optional<Reading>& reading = rounds_[size_t(round)][entry]) {
      times.push_back(reading->call_ns);
      watts.push_back(reading->watts);
      clocks.push_back(reading->sm_clock_mhz);
    }
  if (times.empty()) return;
  timing.energy = Energy{.joules = timing.median_ns / 1e9,
                         .interval = {timing.interval.low / 1e9, timing.interval.high / 1e9},
                         .watts = Median(watts),
                         .sm_clock_mhz = Median(clocks)};
  timing.median_ns = Median(times);
  timing.mean_ns = Mean(times);
  timing.interval = MedianInterval(times);
  timing.samples_ns = Thin(times, kMaxKeptSamples);
}

}  // namespace gemmsmith
