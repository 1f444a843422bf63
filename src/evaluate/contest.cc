#include "evaluate/contest.h"

#include <algorithm>
#include <iterator>

#include "base/seconds.h"
#include "evaluate/time/call_clocks.h"
#include "evaluate/time/energy_clock.h"
#include "evaluate/time/race_rules.h"

namespace gemmsmith {

namespace {

constexpr double kStaysWarmSeconds = 0.1;

// One entry of a race.
struct Start {
  size_t racer = 0;  // its place among all
  Clock clock = Clock::kDevice;
  const CallGraph* graph = nullptr;  // for the clocks of the device
};

// What a clock is made of.
struct Entrants {
  const Workshop& workshop;
  const ProblemMessage& problem;
  std::span<const Racer> racers;
  const PutCall& sweep;
  std::vector<Start> starts;
  std::optional<Window> window;  // of each visit

  std::vector<PutCall> Calls() const {
    std::vector<PutCall> calls;
    for (const Start& start : starts) calls.push_back(racers[start.racer].call);
    return calls;
  }
  std::vector<Turn> Turns() const {
    std::vector<Turn> turns;
    for (const Start& start : starts) turns.push_back(TurnFor(*start.graph, racers[start.racer].call_ns, window));
    return turns;
  }
  PutCall LeadIn() const {
    return [&harness = workshop.harness] { return harness.LeadIn(); };
  }
};

using MadeClock = Result<std::unique_ptr<RoundClock>>;

MadeClock MakeDeviceClock(const Entrants& entrants) {
  return DeviceClock::Create(entrants.workshop.gpu, entrants.Turns(), entrants.LeadIn());
}
MadeClock MakeColdClock(const Entrants& entrants) {
  return DeviceClock::Create(entrants.workshop.gpu, entrants.Turns(), entrants.LeadIn(), entrants.sweep);
}
MadeClock MakeOfflineClock(const Entrants& entrants) {
  Gpu& gpu = entrants.workshop.gpu;
  return OfflineClock::Create(gpu, entrants.Calls(), CallsBefore(entrants.problem.gemm.shape, gpu.identity().l2_bytes));
}
MadeClock MakeServerClock(const Entrants& entrants) {
  return ServerClock::Create(entrants.workshop.gpu, entrants.Calls(), Gaps(Random(entrants.problem.seed).Fork("gaps")));
}
MadeClock MakeHostClock(const Entrants& entrants) {
  return std::unique_ptr<RoundClock>(new HostClock(entrants.workshop.gpu, entrants.Calls()));
}
MadeClock MakeEnergyClock(const Entrants& entrants) {
  ASSIGN_OR_RETURN(EnergyMeter meter, MeterOf(entrants.workshop.nvml));
  std::vector<EnergyTurn> turns;
  for (const Start& start : entrants.starts) turns.push_back({start.graph, entrants.racers[start.racer].call_ns});
  return EnergyClock::Create(entrants.workshop.gpu, std::move(turns), std::move(meter));
}

// One race: the clock that makes it wanted, what its steps are called, and how the clock is made.
struct ClockRow {
  Clock clock;
  std::string_view name;
  MadeClock (*make)(const Entrants&);
  // The clocks whose graphs are timed in its rounds; none where calls are.
  std::initializer_list<Clock> graphs;
};
constexpr std::initializer_list<Clock> kNoGraphs = {}, kWarmGraphs = {Clock::kDevice, Clock::kDeviceChained},
                                       kColdGraphs = {Clock::kDeviceCold}, kEnergyGraphs = {Clock::kEnergy};
// kDeviceChained has no race of its own: it is compared with the rivals' plain times of the same rounds.
constexpr ClockRow kRows[] = {
    {Clock::kDevice, "device clock", MakeDeviceClock, kWarmGraphs},
    {Clock::kDeviceCold, "cold clock", MakeColdClock, kColdGraphs},
    {Clock::kOffline, "offline clock", MakeOfflineClock, kNoGraphs},
    {Clock::kServer, "server clock", MakeServerClock, kNoGraphs},
    {Clock::kHost, "host clock", MakeHostClock, kNoGraphs},
    {Clock::kEnergy, "energy clock", MakeEnergyClock, kEnergyGraphs},
};
static_assert(std::size(kRows) == size_t(kLastClock), "every clock but kDeviceChained has a row");

// Whose graphs a clock replays.
Clock GraphsOf(Clock clock) { return clock == Clock::kEnergy ? Clock::kDevice : clock; }

// A turn on the energy clock takes two seconds: of the rivals those alone that decide, where any does.
bool Races(const Racer& racer, const ClockRow& row, std::span<const Racer> racers) {
  if (row.clock != Clock::kEnergy || racer.candidate >= 0 || racer.is_decisive) return true;
  return std::none_of(racers.begin(), racers.end(), [](const Racer& other) { return other.is_decisive; });
}

// Who stays out of a race, by its place among the racers.
using Excused = std::vector<bool>;

std::vector<Start> StartsFor(const ClockRow& row, std::span<const Racer> racers, const Excused& excused) {
  std::vector<Start> starts;
  for (size_t i = 0; i < racers.size(); ++i) {
    if (excused[i] || !Races(racers[i], row, racers)) continue;
    if (row.graphs.size() == 0) starts.push_back({i, row.clock, nullptr});
    for (const Clock clock : row.graphs)
      if (const auto graph = racers[i].graphs.find(GraphsOf(clock)); graph != racers[i].graphs.end())
        starts.push_back({i, clock, graph->second});
  }
  return starts;
}

double FastestCallNs(std::span<const Racer> racers) {
  const auto by_time = [](const Racer& x, const Racer& y) { return x.call_ns < y.call_ns; };
  return std::min_element(racers.begin(), racers.end(), by_time)->call_ns;
}

class ContestRun {
 public:
  ContestRun(const Workshop& workshop, const ProblemMessage& problem, std::span<const Racer> racers,
             const PutCall& sweep, const StepListener& on_step)
      : workshop_(workshop), problem_(problem), racers_(racers), sweep_(sweep), on_step_(on_step) {
    result_.timings.resize(racers.size());
    result_.comparisons.resize(racers.size());
  }

  Result<ContestResult> Run() {
    for (const ClockRow& row : kRows)
      if (problem_.clocks.Has(row.clock)) RETURN_IF_ERROR(RunRace(row));
    return std::move(result_);
  }

 private:
  Status RunRace(const ClockRow& row) {
    // All contenders alike, whoever is fast.
    const double fastest_call_ns = FastestCallNs(racers_);
    const Entrants entrants{workshop_,
                            problem_,
                            racers_,
                            sweep_,
                            StartsFor(row, racers_, ExcusedFrom(row)),
                            WindowFor(problem_.protocol, row.clock, fastest_call_ns, problem_.brief)};
    if (entrants.starts.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const std::unique_ptr<RoundClock> clock, row.make(entrants));
    const TimeRound time_round = [&](std::span<const size_t> order) {
      on_step_({std::string(row.name)});
      return clock->TimeRound(order, [&](size_t i) {
        on_step_({std::string(row.name), racers_[entrants.starts[i].racer].candidate});
      });
    };
    const Field field{entrants.starts.size(), fastest_call_ns, problem_.brief};
    // Before each window of energy its contender runs by itself.
    if (row.clock != Clock::kEnergy) RETURN_IF_ERROR(BringToPace(field, entrants.window.has_value(), time_round));
    Random random = Random(problem_.seed).Fork(row.name);
    const RaceRules rules = RulesFor(problem_.protocol, row.clock, field);
    ASSIGN_OR_RETURN(RaceResult race, Race(EntriesOf(entrants), rules, random, Reader(), time_round));
    for (size_t i = 0; i < race.timings.size(); ++i) clock->Complete(i, race.kept_rounds, race.timings[i]);
    workshop_.last_race = std::chrono::steady_clock::now();
    Enter(entrants, race);
    return OkStatus();
  }

  // Where that is asked for, candidates that are not the fastest of their layout.
  Excused ExcusedFrom(const ClockRow& row) const {
    Excused excused(racers_.size(), false);
    if (!problem_.calls_of_fastest || row.graphs.size() > 0) return excused;
    std::map<Layout, size_t> fastest;
    for (size_t i = 0; i < racers_.size(); ++i) {
      if (racers_[i].candidate < 0) continue;
      excused[i] = true;
      const auto [best, is_first] = fastest.try_emplace(racers_[i].layout, i);
      if (!is_first && DeviceNs(i) < DeviceNs(best->second)) best->second = i;
    }
    for (const auto& [layout, racer] : fastest) excused[racer] = false;
    return excused;
  }
  // As raced before.
  double DeviceNs(size_t racer) const {
    for (const Timing& timing : result_.timings[racer])
      if (timing.clock == Clock::kDevice) return timing.median_ns;
    GEMMSMITH_CHECK(false, "{} has no time on the device clock", racers_[racer].name);
    return 0;
  }

  std::vector<RaceEntry> EntriesOf(const Entrants& entrants) const {
    std::vector<RaceEntry> entries;
    int candidates = 0;
    for (size_t i = 0; i < entrants.starts.size(); ++i) {
      const Start& start = entrants.starts[i];
      const Racer& racer = racers_[start.racer];
      const bool is_new = i == 0 || entrants.starts[i - 1].racer != start.racer;
      if (racer.candidate >= 0 && is_new) ++candidates;
      const int candidate = racer.candidate >= 0 ? candidates - 1 : kRival;
      entries.push_back({racer.name, start.clock, candidate, racer.is_decisive, racer.is_hopeless});
    }
    return entries;
  }

  // The GPU is warm or is not, whatever it was warmed with.
  Status BringToPace(const Field& field, bool is_settled, const TimeRound& time_round) const {
    const bool is_warm = SecondsSince(workshop_.last_race) < kStaysWarmSeconds;
    return RunWarmUp(WarmUpFor(problem_.protocol, field, is_warm, is_settled), field.entries, time_round);
  }

  ReadCondition Reader() const {
    if (workshop_.nvml == nullptr) return {};
    return [this] {
      on_step_({"reading"});
      return workshop_.nvml->Read();
    };
  }

  void Enter(const Entrants& entrants, const RaceResult& race) {
    for (size_t i = 0; i < entrants.starts.size(); ++i) {
      const size_t racer = entrants.starts[i].racer;
      result_.timings[racer].push_back(race.timings[i]);
      std::vector<Comparison>& all = result_.comparisons[racer];
      all.insert(all.end(), race.comparisons[i].begin(), race.comparisons[i].end());
    }
    result_.conditions.Add(race.conditions);
    if (entrants.window) result_.conditions.is_settled = true;
  }

  const Workshop& workshop_;
  const ProblemMessage& problem_;
  const std::span<const Racer> racers_;
  const PutCall& sweep_;
  const StepListener& on_step_;
  ContestResult result_;
};

}  // namespace

std::vector<Racer> RacersOf(std::span<const Baseline* const> rivals, Batch batch) {
  std::vector<Racer> racers;
  for (const Baseline* rival : rivals) {
    Racer& racer = racers.emplace_back();
    racer.name = Name(rival->id);
    racer.is_decisive = rival->id.kind == BaselineKind::kLtAuto;
    racer.call_ns = rival->call_ns;
    racer.call = rival->call;
    for (const auto& [key, graph] : rival->graphs)
      if (key.second == batch) racer.graphs[key.first] = &graph;
  }
  return racers;
}

std::string OutputTestOf(Clock clock) {
  constexpr std::string_view kPrefix = "device_";
  if (clock == Clock::kDevice) return "timed_output";
  std::string_view name = Name(clock);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return fmt::format("{}_output", name);
}

Result<std::unique_ptr<RoundClock>> MakeRoundClock(const Workshop& workshop, const ProblemMessage& problem,
                                                   std::span<const Racer> racers, Clock clock, const PutCall& sweep) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const ClockRow& r) { return r.clock == clock; });
  GEMMSMITH_CHECK(row != std::end(kRows), "a race on the {} clock", Name(clock));
  const Entrants entrants{workshop, problem, racers, sweep, StartsFor(*row, racers, Excused(racers.size(), false))};
  GEMMSMITH_CHECK(entrants.starts.size() == racers.size(), "{} starts of {} racers", entrants.starts.size(),
                  racers.size());
  return row->make(entrants);
}

bool IsOfGraphs(Clock clock) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const ClockRow& row) {
    return std::find(row.graphs.begin(), row.graphs.end(), clock) != row.graphs.end();
  });
}

Result<ContestResult> RunContest(const Workshop& workshop, const ProblemMessage& problem, std::span<const Racer> racers,
                                 const PutCall& sweep, const StepListener& on_step) {
  GEMMSMITH_CHECK(!racers.empty(), "a contest of nobody for {}", Print(problem.gemm));
  return ContestRun(workshop, problem, racers, sweep, on_step).Run();
}

}  // namespace gemmsmith
