#include "evaluate/exchange.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "evaluate/time/offline_clock.h"

namespace gemmsmith {

namespace {

constexpr double kShortWarmUpSeconds = 0.2, kStaysWarmSeconds = 0.1;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string_view StageOf(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kWrong:
      return "correctness";
    case OutcomeKind::kCheated:
      return "honesty";
    default:
      return "launch";
  }
}

RaceRules RulesFor(Protocol protocol) {
  switch (protocol) {
    case Protocol::kScreen:
      return {.min_rounds = 5, .max_rounds = 5};
    case Protocol::kHeat:
      return {.min_rounds = 5, .max_rounds = 100, .survivors = 4};
    case Protocol::kShort:
    case Protocol::kLong:
      break;
  }
  return {.min_rounds = 10, .max_rounds = 100, .interval_width = 0.02};
}

// Rounds whose times nobody keeps: one, which brings graphs and operands to where they will be, and for as long as is
// wanted.
Status WarmUp(double seconds, size_t entries, const TimeRound& time_round) {
  std::vector<size_t> order(entries);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto start = std::chrono::steady_clock::now();
  do {
    ASSIGN_OR_RETURN(const std::vector<double> ignored, time_round(order));
  } while (SecondsSince(start) < seconds);
  return OkStatus();
}

void AddConditions(const RunConditions& now, Outcome& outcome) {
  RunConditions& all = outcome.conditions;
  if (outcome.timings.empty()) {
    all = now;
  } else {
    all.discarded_batches += now.discarded_batches;
    all.power_capped = all.power_capped || now.power_capped;
  }
}

}  // namespace

// A candidate on the GPU. Graphs go before the kernel that they launch.
struct Exchange::Contestant {
  int32_t place = 0;  // in the list
  const CandidateMessage* message = nullptr;
  Kernel kernel;
  const GuardedWorkspace* workspace = nullptr;
  std::map<const Inputs*, GemmParameters> parameters;
  GemmParameters other;  // for the message's other shape
  std::map<Clock, CallGraph> graphs;
  bool is_hopeless = false;
  TestResult tested;
  Outcome outcome;
};

// One entry of a race, with whoever is waited for when its time is awaited.
struct Exchange::Start {
  RaceEntry entry;
  Step waiting;
};

Exchange::Exchange(const Workshop& workshop, ProblemSession& session, const ProblemMessage& problem,
                   std::span<const CandidateMessage> candidates, const StepListener& on_step)
    : workshop_(workshop),
      session_(session),
      problem_(problem),
      candidates_(candidates),
      on_step_(on_step),
      verifier_(workshop.gpu, workshop.harness),
      bench_(session.BenchFor(problem)) {
  if (problem.time) rivals_ = session.RivalsFor(problem);
  judgements_.outcomes.resize(candidates.size());
}

Exchange::~Exchange() {
  contestants_.clear();
  workshop_.workspaces.Release();
}

Result<Judgements> Exchange::Run() {
  for (size_t i = 0; i < candidates_.size() && !judgements_.worker_is_lost; ++i) RETURN_IF_ERROR(Test(i));
  if (!judgements_.worker_is_lost && problem_.time) RETURN_IF_ERROR(TimeAll());
  if (!judgements_.worker_is_lost && !problem_.time)
    for (const auto& contestant : contestants_) End(*contestant, OutcomeKind::kVerified, "", "");
  return std::move(judgements_);
}

Step Exchange::StepOf(std::string name, const Contestant& contestant) const {
  return {std::move(name), contestant.place};
}

Workplace Exchange::WorkplaceOf(const Contestant& contestant) const {
  return {bench_.normal, bench_.output, contestant.workspace};
}

// ---- tests

Status Exchange::Load(Contestant& contestant) {
  const CandidateMessage& message = *contestant.message;
  ASSIGN_OR_RETURN(contestant.kernel, workshop_.gpu.Load(message.cubin, message.entry, message.launch.smem_bytes));
  const auto arguments_for = [&](const Gemm& gemm, const Inputs& inputs) {
    return ArgumentsFor(gemm, inputs.a->data(), inputs.b->data(), bench_.output->data(), contestant.workspace->data());
  };
  for (const Inputs* inputs : bench_.inputs) {
    if (inputs == nullptr) continue;
    ASSIGN_OR_RETURN(contestant.parameters[inputs],
                     workshop_.gpu.ParametersFor(message.launch, arguments_for(bench_.gemm, *inputs)));
  }
  if (!message.other) return OkStatus();
  const Gemm& gemm = bench_.gemm;
  const Gemm other{message.other->shape, gemm.kind, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
  ASSIGN_OR_RETURN(contestant.other,
                   workshop_.gpu.ParametersFor(message.other->launch, arguments_for(other, *bench_.normal)));
  return OkStatus();
}

Status Exchange::Put(const Contestant& contestant, const Inputs& inputs, Chaining chaining) {
  return workshop_.gpu.StartGemm(contestant.kernel, contestant.message->launch, contestant.parameters.at(&inputs),
                                 chaining);
}

Status Exchange::Test(size_t candidate) {
  auto contestant = std::make_unique<Contestant>();
  contestant->place = int32_t(candidate);
  contestant->message = &candidates_[candidate];
  contestant->outcome.protocol = problem_.protocol;
  if (problem_.time) contestant->outcome.baseline_algorithms = session_.BaselineAlgorithms();
  const Launch& launch = contestant->message->launch;

  on_step_(StepOf("load", *contestant));
  ASSIGN_OR_RETURN(contestant->workspace, workshop_.workspaces.Take(launch.workspace_bytes));
  if (contestant->workspace == nullptr && candidates_.size() > 1) {
    judgements_.one_by_one = true;
    return OkStatus();
  }
  if (contestant->workspace == nullptr) {
    End(*contestant, OutcomeKind::kResourceOver, "launch",
        fmt::format("a workspace of {} bytes does not fit on the GPU", launch.workspace_bytes));
    return OkStatus();
  }
  if (const Status loaded = Load(*contestant); !loaded.ok()) {
    End(*contestant, OutcomeKind::kLaunchFailed, "launch", loaded.message());
    return OkStatus();
  }

  TestBench bench = bench_;
  bench.workspace = contestant->workspace;
  bench.chainable = launch.chainable;
  bench.deterministic = launch.deterministic;
  if (const auto& other = contestant->message->other)
    bench.put_other_shape = [&] {
      return workshop_.gpu.StartGemm(contestant->kernel, other->launch, contestant->other);
    };
  const PutGemm put = [&](const Inputs& inputs, Chaining chaining) { return Put(*contestant, inputs, chaining); };
  ASSIGN_OR_RETURN(contestant->tested, TestCandidate(verifier_, bench, put, [&](std::string_view test) {
                     on_step_(StepOf(fmt::format("test {}", test), *contestant));
                   }));
  contestant->outcome.verdict = contestant->tested.verdict;
  if (contestant->tested.ended) {
    EndWrongly(*contestant);
    return contestant->tested.touched_others ? Restore() : OkStatus();
  }
  contestants_.push_back(std::move(contestant));
  return OkStatus();
}

void Exchange::End(Contestant& contestant, OutcomeKind kind, std::string_view stage, std::string reason) {
  Outcome& outcome = contestant.outcome;
  outcome.kind = kind;
  outcome.stage = stage;
  outcome.reason = std::move(reason);
  if (kind == OutcomeKind::kLaunchFailed && !workshop_.gpu.Synchronize().ok()) judgements_.worker_is_lost = true;
  judgements_.outcomes[size_t(contestant.place)] = outcome;
}

void Exchange::EndWrongly(Contestant& contestant) {
  const OutcomeKind kind = *contestant.tested.ended;
  contestant.outcome.verdict = contestant.tested.verdict;
  End(contestant, kind, StageOf(kind), contestant.tested.reason);
}

// Without this the next candidate would be charged with what this one did.
Status Exchange::Restore() {
  touched_others_ = true;
  if (judgements_.worker_is_lost) return OkStatus();
  on_step_({"restore"});
  RETURN_IF_ERROR(workshop_.workspaces.Restore());
  return session_.Restore();
}

// ---- timing

Status Exchange::TimeAll() {
  RETURN_IF_ERROR(CaptureAll());
  if (judgements_.worker_is_lost || contestants_.empty()) return OkStatus();
  Status timed = RunDeviceClock();
  if (timed.ok() && problem_.clocks.Has(Clock::kOffline)) timed = RunOfflineClock();
  if (timed.ok()) return LookAfterwards();
  if (workshop_.gpu.Synchronize().ok()) return timed;
  // Somebody's kernel crashed in the race. After that the driver says so of every batch: who it was shows only alone.
  judgements_.worker_is_lost = true;
  if (contestants_.size() == 1)
    End(*contestants_[0], OutcomeKind::kLaunchFailed, "timing", timed.message());
  else
    judgements_.one_by_one = true;
  return OkStatus();
}

Status Exchange::CaptureAll() {
  for (size_t i = 0; i < contestants_.size() && !judgements_.worker_is_lost;) {
    on_step_(StepOf("capture", *contestants_[i]));
    const Status captured = Capture(*contestants_[i]);
    if (captured.ok()) {
      ++i;
      continue;
    }
    End(*contestants_[i], OutcomeKind::kLaunchFailed, "timing", captured.message());
    contestants_.erase(contestants_.begin() + std::ptrdiff_t(i));
  }
  return OkStatus();
}

Status Exchange::Capture(Contestant& contestant) {
  const auto call = [&](Chaining chaining) -> PutCall {
    return [this, &contestant, chaining] { return Put(contestant, *bench_.normal, chaining); };
  };
  ASSIGN_OR_RETURN(const double call_ns, EstimateCall(contestant, call(Chaining::kNone)));
  contestant.is_hopeless = IsHopeless(call_ns);
  const auto add = [&](Clock clock, Chaining chaining) -> Status {
    ASSIGN_OR_RETURN(contestant.graphs[clock],
                     CallGraph::Capture(workshop_.gpu, call(chaining), call_ns, BatchFor(problem_.protocol)));
    return OkStatus();
  };
  RETURN_IF_ERROR(add(Clock::kDevice, Chaining::kNone));
  const bool is_chained = contestant.message->launch.chainable && contestant.graphs[Clock::kDevice].calls > 1;
  return is_chained && !contestant.is_hopeless ? add(Clock::kDeviceChained, Chaining::kProgrammatic) : OkStatus();
}

// What a long call takes shows well enough in its tests.
Result<double> Exchange::EstimateCall(const Contestant& contestant, const PutCall& call) {
  constexpr double kLongNs = 1e6;
  if (contestant.tested.call_ns > kLongNs) return contestant.tested.call_ns;
  return EstimateNs(
      workshop_.gpu, [this] { return workshop_.harness.LeadIn(); }, call);
}

bool Exchange::IsHopeless(double call_ns) const {
  constexpr double kFactor = 4, kCheapNs = 0.2e6;
  if (problem_.protocol != Protocol::kScreen || call_ns <= kCheapNs || rivals_.empty()) return false;
  const Baseline& fastest = **std::min_element(
      rivals_.begin(), rivals_.end(), [](const Baseline* x, const Baseline* y) { return x->call_ns < y->call_ns; });
  return call_ns > kFactor * fastest.call_ns;
}

Status Exchange::RunDeviceClock() {
  std::vector<Start> starts;
  std::vector<const CallGraph*> graphs;
  for (size_t i = 0; i < contestants_.size(); ++i)
    for (const auto& [clock, graph] : contestants_[i]->graphs) {
      starts.push_back(
          {{.name = "ours", .clock = clock, .candidate = int(i), .is_hopeless = contestants_[i]->is_hopeless},
           StepOf("device clock", *contestants_[i])});
      graphs.push_back(&graph);
    }
  for (const Baseline* rival : rivals_) {
    starts.push_back({{rival->name, Clock::kDevice, kRival, rival->kind == BaselineKind::kLtAuto}, {"device clock"}});
    graphs.push_back(&rival->graphs.at(BatchFor(problem_.protocol)));
  }
  ASSIGN_OR_RETURN(DeviceClock clock,
                   DeviceClock::Create(workshop_.gpu, graphs.size(), [this] { return workshop_.harness.LeadIn(); }));
  return RunRace(starts, "device clock", [&](std::span<const size_t> order) {
    return clock.TimeRound(graphs, order, [&](size_t i) { on_step_(starts[i].waiting); });
  });
}

Status Exchange::RunOfflineClock() {
  std::vector<Start> starts;
  std::vector<PutCall> calls;
  for (size_t i = 0; i < contestants_.size(); ++i) {
    starts.push_back({{"ours", Clock::kOffline, int(i)}, StepOf("offline clock", *contestants_[i])});
    calls.push_back([this, i] { return Put(*contestants_[i], *bench_.normal, Chaining::kNone); });
  }
  for (const Baseline* rival : rivals_) {
    starts.push_back({{rival->name, Clock::kOffline, kRival, rival->kind == BaselineKind::kLtAuto}, {"offline clock"}});
    calls.push_back(rival->call);
  }
  ASSIGN_OR_RETURN(OfflineClock clock, OfflineClock::Create(workshop_.gpu, calls.size()));
  return RunRace(starts, "offline clock", [&](std::span<const size_t> order) {
    return clock.TimeRound(calls, order, [&](size_t i) { on_step_(starts[i].waiting); });
  });
}

Status Exchange::RunRace(const std::vector<Start>& starts, std::string_view clock_name, const TimeRound& time_round) {
  std::vector<RaceEntry> entries;
  for (const Start& start : starts) entries.push_back(start.entry);
  const TimeRound announced = [&](std::span<const size_t> order) {
    on_step_({std::string(clock_name)});
    return time_round(order);
  };
  ReadCondition read;
  if (workshop_.nvml != nullptr)
    read = [this] {
      on_step_({"reading"});
      return workshop_.nvml->Read();
    };
  RETURN_IF_ERROR(WarmUp(WarmUpSeconds(), entries.size(), announced));
  Random random = Random(problem_.seed).Fork(clock_name);
  ASSIGN_OR_RETURN(const RaceResult race, Race(entries, RulesFor(problem_.protocol), random, read, announced));
  workshop_.last_race = std::chrono::steady_clock::now();
  for (const auto& contestant : contestants_) AddConditions(race.conditions, contestant->outcome);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].candidate == kRival) {
      for (const auto& contestant : contestants_) contestant->outcome.timings.push_back(race.timings[i]);
      continue;
    }
    Outcome& outcome = contestants_[size_t(entries[i].candidate)]->outcome;
    outcome.timings.push_back(race.timings[i]);
    outcome.comparisons.insert(outcome.comparisons.end(), race.comparisons[i].begin(), race.comparisons[i].end());
  }
  return OkStatus();
}

// The GPU is warm or is not, whatever it was warmed with.
double Exchange::WarmUpSeconds() const {
  const bool is_warm = SecondsSince(workshop_.last_race) < kStaysWarmSeconds;
  return IsThorough(problem_.protocol) && !is_warm ? kShortWarmUpSeconds : 0;
}

// ---- after the race

Status Exchange::LookAfterwards() {
  if (contestants_.size() > 1) {
    on_step_({"inspection"});
    ASSIGN_OR_RETURN(const bool untouched, IsUntouched());
    if (!untouched) {
      judgements_.one_by_one = true;
      return Restore();
    }
  }
  for (const auto& contestant : contestants_) {
    RETURN_IF_ERROR(LookAtTimedOutput(*contestant));
    if (judgements_.worker_is_lost) return OkStatus();
  }
  return OkStatus();
}

Result<bool> Exchange::IsUntouched() {
  for (const auto& contestant : contestants_) {
    ASSIGN_OR_RETURN(const std::string damage, verifier_.LookForDamage(WorkplaceOf(*contestant)));
    if (!damage.empty()) return false;
  }
  return true;
}

// All candidates share one output, which holds what ran last. So what was timed runs once more, on a poisoned output.
Status Exchange::LookAtTimedOutput(Contestant& contestant) {
  std::vector<std::pair<std::string, PutCall>> runs;
  for (const auto& [clock, graph] : contestant.graphs)
    runs.emplace_back(clock == Clock::kDevice ? "timed_output" : "chained_output",
                      [this, &timed = graph.graph] { return workshop_.gpu.Replay(timed); });
  if (problem_.clocks.Has(Clock::kOffline))
    runs.emplace_back("offline_output", [&] { return Put(contestant, *bench_.normal, Chaining::kNone); });
  for (const auto& [test, run] : runs) {
    on_step_(StepOf(fmt::format("test {}", test), contestant));
    ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(bench_.gemm, WorkplaceOf(contestant), 0, run));
    Conclude(test, watched, contestant.tested);
    if (!contestant.tested.ended) continue;
    EndWrongly(contestant);
    return contestant.tested.touched_others ? Restore() : OkStatus();
  }
  End(contestant, OutcomeKind::kMeasured, "", "");
  return OkStatus();
}

}  // namespace gemmsmith
