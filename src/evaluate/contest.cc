#include "evaluate/contest.h"

#include <algorithm>
#include <iterator>

#include "base/seconds.h"
#include "evaluate/time/call_clocks.h"
#include "evaluate/time/energy_clock.h"
#include "evaluate/time/race_rules.h"
#include "evaluate/time/ring_clock.h"

namespace gemmsmith {

namespace {

constexpr double kStaysWarmSeconds = 0.1;

// One entry of a race.
struct ClockEntry {
  size_t timed_call = 0;  // its place among all
  Clock clock = Clock::kDevice;
  const CallGraph* graph = nullptr;  // for the clocks of the device
};

// The parts that a clock is made from.
struct ClockSetup {
  const GpuTools& tools;
  const ProblemMessage& problem;
  std::span<const TimedCall> timed_calls;
  Ring* ring;
  std::vector<ClockEntry> entries;
  std::optional<Window> window;  // of each visit

  std::vector<PutCall> Calls() const {
    std::vector<PutCall> calls;
    for (const ClockEntry& entry : entries) calls.push_back(timed_calls[entry.timed_call].call);
    return calls;
  }
  std::vector<Visit> Visits() const {
    std::vector<Visit> visits;
    for (const ClockEntry& entry : entries)
      visits.push_back(VisitFor(*entry.graph, timed_calls[entry.timed_call].call_ns, window));
    return visits;
  }
  PutCall LeadIn() const {
    return [&harness = tools.harness] { return harness.LeadIn(); };
  }
};

using MadeClock = Result<std::unique_ptr<RoundClock>>;

MadeClock MakeDeviceClock(const ClockSetup& setup) {
  return DeviceClock::Create(setup.tools.gpu, setup.Visits(), setup.LeadIn());
}
MadeClock MakeRingClock(const ClockSetup& setup) {
  GEMMSMITH_CHECK(setup.ring != nullptr, "the ring's clock without a ring");
  std::vector<RingVisit> visits;
  for (const ClockEntry& entry : setup.entries) {
    const TimedCall& timed_call = setup.timed_calls[entry.timed_call];
    visits.push_back({entry.graph, timed_call.layout, timed_call.candidate >= 0 ? Maker::kCandidate : Maker::kLibrary});
  }
  return RingClock::Create(setup.tools.gpu, *setup.ring, setup.problem.gemm, std::move(visits));
}
MadeClock MakeOfflineClock(const ClockSetup& setup) {
  Gpu& gpu = setup.tools.gpu;
  return OfflineClock::Create(gpu, setup.Calls(), CallsBefore(setup.problem.gemm.shape, gpu.identity().l2_bytes));
}
MadeClock MakeServerClock(const ClockSetup& setup) {
  return ServerClock::Create(setup.tools.gpu, setup.Calls(), Gaps(Random(setup.problem.seed).Fork("gaps")));
}
MadeClock MakeHostClock(const ClockSetup& setup) {
  return std::unique_ptr<RoundClock>(new HostClock(setup.tools.gpu, setup.Calls()));
}
MadeClock MakeEnergyClock(const ClockSetup& setup) {
  ASSIGN_OR_RETURN(EnergyMeter meter, MeterOf(setup.tools.nvml));
  std::vector<EnergyVisit> visits;
  for (const ClockEntry& entry : setup.entries)
    visits.push_back({entry.graph, setup.timed_calls[entry.timed_call].call_ns});
  return EnergyClock::Create(setup.tools.gpu, std::move(visits), std::move(meter));
}

// One race: the clock that makes it wanted, what its steps are called, and how the clock is made.
struct ClockRow {
  Clock clock;
  std::string_view name;
  MadeClock (*make)(const ClockSetup&);
  // The clocks whose graphs are timed in its rounds; none where calls are.
  std::initializer_list<Clock> graphs;
};
constexpr std::initializer_list<Clock> kNoGraphs = {}, kWarmGraphs = {Clock::kDevice, Clock::kDeviceChained},
                                       kRingGraphs = {Clock::kDeviceCold, Clock::kDeviceColdChained},
                                       kEnergyGraphs = {Clock::kEnergy};
// Chains have no race of their own: they are compared with the baselines' plain times of the same rounds.
constexpr ClockRow kRows[] = {
    {Clock::kDeviceCold, "ring", MakeRingClock, kRingGraphs},
    {Clock::kDevice, "device clock", MakeDeviceClock, kWarmGraphs},
    {Clock::kOffline, "offline clock", MakeOfflineClock, kNoGraphs},
    {Clock::kServer, "server clock", MakeServerClock, kNoGraphs},
    {Clock::kHost, "host clock", MakeHostClock, kNoGraphs},
    {Clock::kEnergy, "energy clock", MakeEnergyClock, kEnergyGraphs},
};
static_assert(std::size(kRows) + 2 == size_t(kLastClock) + 1, "every clock but the two of chains has a row");

// The clock whose graphs this clock replays.
Clock GraphsOf(Clock clock) { return clock == Clock::kEnergy ? Clock::kDevice : clock; }

// A visit on the energy clock takes two seconds: of the baselines those alone that decide, where any does.
bool Races(const TimedCall& timed_call, const ClockRow& row, std::span<const TimedCall> timed_calls) {
  if (row.clock != Clock::kEnergy || timed_call.candidate >= 0 || timed_call.is_decisive) return true;
  return std::none_of(timed_calls.begin(), timed_calls.end(), [](const TimedCall& other) { return other.is_decisive; });
}

// Which calls stay out of a race, by index.
using Excluded = std::vector<bool>;

std::vector<ClockEntry> EntriesFor(const ClockRow& row, std::span<const TimedCall> timed_calls,
                                   const Excluded& excluded) {
  std::vector<ClockEntry> entries;
  for (size_t i = 0; i < timed_calls.size(); ++i) {
    if (excluded[i] || !Races(timed_calls[i], row, timed_calls)) continue;
    if (row.graphs.size() == 0) entries.push_back({i, row.clock, nullptr});
    for (const Clock clock : row.graphs)
      if (const auto graph = timed_calls[i].graphs.find(GraphsOf(clock)); graph != timed_calls[i].graphs.end())
        entries.push_back({i, clock, graph->second});
  }
  return entries;
}

double FastestCallNs(std::span<const TimedCall> timed_calls) {
  const auto by_time = [](const TimedCall& x, const TimedCall& y) { return x.call_ns < y.call_ns; };
  return std::min_element(timed_calls.begin(), timed_calls.end(), by_time)->call_ns;
}

class ContestRun {
 public:
  ContestRun(const GpuTools& tools, const ProblemMessage& problem, std::span<const TimedCall> timed_calls, Ring* ring,
             const StepListener& on_step)
      : tools_(tools), problem_(problem), timed_calls_(timed_calls), ring_(ring), on_step_(on_step) {
    result_.timings.resize(timed_calls.size());
    result_.comparisons.resize(timed_calls.size());
    result_.faults.resize(timed_calls.size());
  }

  Result<ContestResult> Run() {
    for (const ClockRow& row : kRows)
      if (problem_.clocks.Has(row.clock)) RETURN_IF_ERROR(RunRace(row));
    return std::move(result_);
  }

 private:
  Status RunRace(const ClockRow& row) {
    // All entries follow the same rules, whichever is fast.
    const double fastest_call_ns = FastestCallNs(timed_calls_);
    const ClockSetup setup{tools_,
                           problem_,
                           timed_calls_,
                           ring_,
                           EntriesFor(row, timed_calls_, ExcludedFrom(row)),
                           WindowFor(problem_.protocol, row.clock, fastest_call_ns)};
    if (!HasSubject(setup)) return OkStatus();
    ASSIGN_OR_RETURN(const std::unique_ptr<RoundClock> clock, row.make(setup));
    const TimeRound time_round = [&](std::span<const size_t> order) {
      on_step_({std::string(row.name)});
      return clock->TimeRound(order, [&](size_t i) {
        on_step_({std::string(row.name), timed_calls_[setup.entries[i].timed_call].candidate});
      });
    };
    const RaceTraits traits{setup.entries.size(), fastest_call_ns, problem_.brief};
    // Before each window of energy its entry runs by itself.
    if (row.clock != Clock::kEnergy) RETURN_IF_ERROR(BringToPace(setup, traits, time_round));
    Random random = Random(problem_.seed).Fork(row.name);
    const RaceRules rules = RulesFor(problem_.protocol, row.clock, traits);
    ASSIGN_OR_RETURN(RaceResult race, Race(EntriesOf(setup), rules, random, Reader(), time_round));
    for (size_t i = 0; i < race.timings.size(); ++i) {
      clock->Complete(i, race.kept_rounds, race.timings[i]);
      std::string& seen = result_.faults[setup.entries[i].timed_call];
      if (const std::string fault = clock->FaultOf(i); !fault.empty() && seen.empty())
        seen = fmt::format("{}: {}", Name(setup.entries[i].clock), fault);
    }
    tools_.last_race = std::chrono::steady_clock::now();
    Enter(setup, race);
    return OkStatus();
  }

  // Where that is asked for, candidates that are not the fastest of their layout.
  Excluded ExcludedFrom(const ClockRow& row) const {
    Excluded excluded(timed_calls_.size(), false);
    if (!problem_.calls_of_fastest || row.graphs.size() > 0) return excluded;
    std::map<Layout, size_t> fastest;
    for (size_t i = 0; i < timed_calls_.size(); ++i) {
      if (timed_calls_[i].candidate < 0) continue;
      excluded[i] = true;
      const auto [best, is_first] = fastest.try_emplace(timed_calls_[i].layout, i);
      if (!is_first && DeviceNs(i) < DeviceNs(best->second)) best->second = i;
    }
    for (const auto& [layout, timed_call] : fastest) excluded[timed_call] = false;
    return excluded;
  }
  // Whether the race has an entry of a candidate, or there is none at all and the baselines race alone.
  bool HasSubject(const ClockSetup& setup) const {
    const auto is_candidate = [](const TimedCall& timed_call) { return timed_call.candidate >= 0; };
    if (std::none_of(timed_calls_.begin(), timed_calls_.end(), is_candidate)) return !setup.entries.empty();
    return std::any_of(setup.entries.begin(), setup.entries.end(),
                       [&](const ClockEntry& entry) { return is_candidate(timed_calls_[entry.timed_call]); });
  }
  // As raced first: on the ring, if there was one.
  double DeviceNs(size_t timed_call) const {
    const std::vector<Timing>& timings = result_.timings[timed_call];
    GEMMSMITH_CHECK(!timings.empty() && (timings[0].clock == Clock::kDeviceCold || timings[0].clock == Clock::kDevice),
                    "{} has no time on a clock of the device", timed_calls_[timed_call].name);
    return timings[0].median_ns;
  }

  std::vector<RaceEntry> EntriesOf(const ClockSetup& setup) const {
    std::vector<RaceEntry> entries;
    int candidates = 0;
    for (size_t i = 0; i < setup.entries.size(); ++i) {
      const ClockEntry& entry = setup.entries[i];
      const TimedCall& timed_call = timed_calls_[entry.timed_call];
      const bool is_new = i == 0 || setup.entries[i - 1].timed_call != entry.timed_call;
      if (timed_call.candidate >= 0 && is_new) ++candidates;
      const int candidate = timed_call.candidate >= 0 ? candidates - 1 : kNoCandidate;
      entries.push_back({timed_call.name, entry.clock, candidate, timed_call.is_decisive, timed_call.is_hopeless});
    }
    return entries;
  }

  // The GPU is warm or is not, whatever it was warmed with: hopeless entries stay out. The first launch of a graph is
  // slow; where a warm-up has nothing else to end, each graph is launched, and no output is looked at.
  Status BringToPace(const ClockSetup& setup, const RaceTraits& traits, const TimeRound& time_round) const {
    const bool is_warm = SecondsSince(tools_.last_race) < kStaysWarmSeconds;
    const WarmUp rules = WarmUpFor(problem_.protocol, traits, is_warm, setup.window.has_value());
    std::vector<size_t> order;
    for (size_t i = 0; i < setup.entries.size(); ++i)
      if (!timed_calls_[setup.entries[i].timed_call].is_hopeless) order.push_back(i);
    const bool is_first_launch_enough = rules == WarmUp{} && setup.entries[0].graph != nullptr;
    if (!is_first_launch_enough) return RunWarmUp(rules, std::move(order), time_round);
    for (const size_t i : order) RETURN_IF_ERROR(tools_.gpu.Replay(setup.entries[i].graph->twins[0]));
    return OkStatus();
  }

  ReadCondition Reader() const {
    if (tools_.nvml == nullptr) return {};
    return [this] {
      on_step_({"reading"});
      return tools_.nvml->Read();
    };
  }

  void Enter(const ClockSetup& setup, const RaceResult& race) {
    for (size_t i = 0; i < setup.entries.size(); ++i) {
      const size_t timed_call = setup.entries[i].timed_call;
      result_.timings[timed_call].push_back(race.timings[i]);
      std::vector<Comparison>& all = result_.comparisons[timed_call];
      all.insert(all.end(), race.comparisons[i].begin(), race.comparisons[i].end());
    }
    result_.conditions.Add(race.conditions);
    if (setup.window) result_.conditions.in_steady_state = true;
  }

  const GpuTools& tools_;
  const ProblemMessage& problem_;
  const std::span<const TimedCall> timed_calls_;
  Ring* const ring_;
  const StepListener& on_step_;
  ContestResult result_;
};

}  // namespace

std::vector<TimedCall> TimedCallsOf(std::span<const Baseline* const> baselines, Batch batch) {
  std::vector<TimedCall> timed_calls;
  for (const Baseline* baseline : baselines) {
    TimedCall& timed_call = timed_calls.emplace_back();
    timed_call.name = Name(baseline->id);
    timed_call.layout = baseline->layout;
    timed_call.is_decisive = baseline->id.kind == BaselineKind::kLtAuto;
    timed_call.call_ns = baseline->call_ns;
    timed_call.call = baseline->call;
    for (const auto& [key, graph] : baseline->graphs)
      if (key.second == batch) timed_call.graphs[key.first] = &graph;
  }
  return timed_calls;
}

std::string OutputTestOf(Clock clock) {
  constexpr std::string_view kPrefix = "device_";
  if (clock == Clock::kDevice) return "timed_output";
  std::string_view name = Name(clock);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return fmt::format("{}_output", name);
}

bool IsOfGraphs(Clock clock) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const ClockRow& row) {
    return std::find(row.graphs.begin(), row.graphs.end(), clock) != row.graphs.end();
  });
}

Result<ContestResult> RunContest(const GpuTools& tools, const ProblemMessage& problem,
                                 std::span<const TimedCall> timed_calls, Ring* ring, const StepListener& on_step) {
  GEMMSMITH_CHECK(!timed_calls.empty(), "a contest of nobody for {}", Print(problem.gemm));
  return ContestRun(tools, problem, timed_calls, ring, on_step).Run();
}

}  // namespace gemmsmith
