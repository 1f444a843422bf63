#include "evaluate/exchange.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gemmsmith {

namespace {

void Append(const auto& items, auto& to) { to.insert(to.end(), items.begin(), items.end()); }

}  // namespace

// A candidate on the GPU. Graphs go before the kernel that they launch.
struct Exchange::Contestant {
  int32_t place = 0;  // in the list
  const CandidateMessage* message = nullptr;
  const TestBench* bench = nullptr;  // of its layout
  Kernel kernel;
  const GuardedWorkspace* workspace = nullptr;
  std::map<const Inputs*, GemmParameters> parameters;
  GemmParameters other;  // for the message's other shape
  std::map<Clock, CallGraph> graphs;
  double call_ns = 0;  // roughly
  bool is_hopeless = false;
  TestResult tested;
  Outcome outcome;
};

Exchange::Exchange(const Workshop& workshop, ProblemSession& session, const ProblemMessage& problem,
                   std::span<const CandidateMessage> candidates, const StepListener& on_step)
    : workshop_(workshop),
      session_(session),
      problem_(problem),
      candidates_(candidates),
      on_step_(on_step),
      verifier_(workshop.gpu, workshop.harness) {
  for (const CandidateMessage& candidate : candidates)
    if (!benches_.contains(candidate.layout))
      benches_.emplace(candidate.layout, session.BenchFor(InLayout(problem, candidate.layout), on_step));
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
  if (!judgements_.worker_is_lost && problem_.counters) ReadCounters();
  return std::move(judgements_);
}

Step Exchange::StepOf(std::string name, const Contestant& contestant) const {
  return {std::move(name), contestant.place};
}

Workplace Exchange::WorkplaceOf(const Contestant& contestant) const {
  return {contestant.bench->normal, contestant.bench->output, contestant.workspace};
}

// ---- tests

Status Exchange::Load(Contestant& contestant) {
  const CandidateMessage& message = *contestant.message;
  const TestBench& bench = *contestant.bench;
  ASSIGN_OR_RETURN(contestant.kernel, workshop_.gpu.Load(message.cubin, message.entry, message.launch.smem_bytes));
  const auto arguments_for = [&](const Gemm& gemm, const Inputs& inputs) {
    return ArgumentsFor(gemm, inputs.a->data(), inputs.b->data(), bench.output->data(), contestant.workspace->data());
  };
  for (const Inputs* inputs : bench.inputs) {
    if (inputs == nullptr) continue;
    ASSIGN_OR_RETURN(contestant.parameters[inputs],
                     ParametersFor(contestant, {inputs->a->data(), inputs->b->data(), bench.output->data()}));
  }
  if (!message.other) return OkStatus();
  const Gemm& gemm = bench.gemm;
  const Gemm other{message.other->shape, gemm.kind, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
  ASSIGN_OR_RETURN(contestant.other,
                   workshop_.gpu.ParametersFor(message.other->launch, arguments_for(other, *bench.normal)));
  return OkStatus();
}

Result<GemmParameters> Exchange::ParametersFor(const Contestant& contestant, const CallAddresses& addresses) const {
  const GemmArguments arguments =
      ArgumentsFor(contestant.bench->gemm, addresses.a, addresses.b, addresses.c, contestant.workspace->data());
  return workshop_.gpu.ParametersFor(contestant.message->launch, arguments);
}

Status Exchange::Put(const Contestant& contestant, const Inputs& inputs, Chaining chaining) {
  return workshop_.gpu.StartGemm(contestant.kernel, contestant.message->launch, contestant.parameters.at(&inputs),
                                 chaining);
}

Status Exchange::Test(size_t candidate) {
  auto contestant = std::make_unique<Contestant>();
  contestant->place = int32_t(candidate);
  contestant->message = &candidates_[candidate];
  contestant->bench = &benches_.at(contestant->message->layout);
  contestant->outcome.protocol = problem_.protocol;
  if (problem_.WantsBaselines()) contestant->outcome.baseline_algorithms = session_.BaselineAlgorithms(problem_);
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

  TestBench bench = *contestant->bench;
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
  return session_.Restore(on_step_);
}

// ---- timing

Status Exchange::TimeAll() {
  RETURN_IF_ERROR(CaptureAll());
  if (judgements_.worker_is_lost || contestants_.empty()) return OkStatus();
  const Status timed = RunRaces();
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
    return [this, &contestant, chaining] { return Put(contestant, *contestant.bench->normal, chaining); };
  };
  ASSIGN_OR_RETURN(contestant.call_ns, EstimateCall(contestant, call(Chaining::kNone)));
  contestant.is_hopeless = IsHopeless(contestant.call_ns);
  const auto add = [&](Clock clock, Chaining chaining) -> Status {
    ASSIGN_OR_RETURN(contestant.graphs[clock], CallGraph::Capture(workshop_.gpu, call(chaining), contestant.call_ns,
                                                                  BatchFor(problem_.protocol)));
    return OkStatus();
  };
  if (problem_.clocks.Has(Clock::kDeviceCold)) RETURN_IF_ERROR(CaptureCold(contestant));
  RETURN_IF_ERROR(add(Clock::kDevice, Chaining::kNone));
  // Of a long call a chain saves less than a thousandth, and another second of windows a round.
  const bool is_chained = contestant.message->launch.chainable && contestant.graphs[Clock::kDevice].calls > 1 &&
                          !contestant.is_hopeless && !IsLongCall(contestant.call_ns);
  return is_chained ? add(Clock::kDeviceChained, Chaining::kProgrammatic) : OkStatus();
}

Status Exchange::CaptureCold(Contestant& contestant) {
  std::vector<PutCall> calls;
  for (const CallAddresses& addresses : session_.ColdSets(contestant.message->layout, *contestant.bench->output)) {
    ASSIGN_OR_RETURN(const GemmParameters parameters, ParametersFor(contestant, addresses));
    calls.push_back([this, &contestant, parameters] {
      return workshop_.gpu.StartGemm(contestant.kernel, contestant.message->launch, parameters);
    });
  }
  const int count = session_.cold_plan().CallsIn(CallsIn(BatchFor(problem_.protocol), contestant.call_ns));
  ASSIGN_OR_RETURN(contestant.graphs[Clock::kDeviceCold], CallGraph::Capture(workshop_.gpu, calls, count));
  return OkStatus();
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

std::vector<Racer> Exchange::RacersOf() const {
  std::vector<Racer> racers;
  for (const auto& contestant : contestants_) {
    Racer& racer = racers.emplace_back();
    racer.candidate = contestant->place;
    racer.layout = contestant->message->layout;
    racer.is_hopeless = contestant->is_hopeless;
    racer.call_ns = contestant->call_ns;
    racer.call = [this, &racing = *contestant] {
      return workshop_.gpu.StartGemm(racing.kernel, racing.message->launch, racing.parameters.at(racing.bench->normal));
    };
    for (const auto& [clock, graph] : contestant->graphs) racer.graphs[clock] = &graph;
  }
  Append(gemmsmith::RacersOf(rivals_, BatchFor(problem_.protocol)), racers);
  return racers;
}

// Everybody's outcome has its own times first, then those of the rivals, which it shares with the others.
Status Exchange::RunRaces() {
  const std::vector<Racer> racers = RacersOf();
  const PutCall sweep = [this] { return session_.PutSweep(); };
  ASSIGN_OR_RETURN(const ContestResult result, RunContest(workshop_, problem_, racers, sweep, on_step_));
  for (size_t i = 0; i < contestants_.size(); ++i) {
    Outcome& outcome = contestants_[i]->outcome;
    outcome.conditions = result.conditions;
    Append(result.timings[i], outcome.timings);
    for (size_t rival = contestants_.size(); rival < racers.size(); ++rival)
      Append(result.timings[rival], outcome.timings);
    Append(result.comparisons[i], outcome.comparisons);
  }
  std::vector<Outcome*> outcomes;
  for (const auto& contestant : contestants_) outcomes.push_back(&contestant->outcome);
  return session_.DismissUntidyRivals(problem_, outcomes);
}

// ---- after the race

Status Exchange::LookAfterwards() {
  const bool is_alone = contestants_.size() == 1;
  on_step_({"inspection"});
  ASSIGN_OR_RETURN(const std::string damage, LookForDamage());
  if (!damage.empty() && !is_alone) {
    judgements_.one_by_one = true;
    return Restore();
  }
  for (const auto& contestant : contestants_) {
    RETURN_IF_ERROR(LookAtTimedOutput(*contestant));
    if (judgements_.worker_is_lost) return OkStatus();
  }
  if (damage.empty()) return OkStatus();
  // In operands of another layout than its own, or its timed output would have told.
  if (Contestant& alone = *contestants_[0]; !alone.tested.ended) {
    Conclude("inspection", {.damage = damage}, alone.tested);
    EndWrongly(alone);
  }
  return Restore();
}

Result<std::string> Exchange::LookForDamage() {
  for (const Inputs* const inputs : session_.NormalInputs()) {
    ASSIGN_OR_RETURN(std::string damage, verifier_.LookForDamage({inputs, &session_.output()}));
    if (!damage.empty()) return damage;
  }
  for (const auto& contestant : contestants_) {
    ASSIGN_OR_RETURN(std::string damage, verifier_.LookAtWorkspace(*contestant->workspace));
    if (!damage.empty()) return damage;
  }
  return std::string();
}

// All candidates share one output, which holds what ran last. So what was timed runs once more, on a poisoned output.
Status Exchange::LookAtTimedOutput(Contestant& contestant) {
  std::vector<std::pair<std::string, PutCall>> runs;
  for (const auto& [clock, graph] : contestant.graphs)
    for (const Graph& timed : graph.twins)
      runs.emplace_back(OutputTestOf(clock), [this, &timed] { return workshop_.gpu.Replay(timed); });
  for (int i = 0; i <= int(kLastClock); ++i)
    if (problem_.clocks.Has(Clock(i)) && !IsOfGraphs(Clock(i)))
      runs.emplace_back(OutputTestOf(Clock(i)),
                        [&] { return Put(contestant, *contestant.bench->normal, Chaining::kNone); });
  for (const auto& [test, run] : runs) {
    on_step_(StepOf(fmt::format("test {}", test), contestant));
    ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(contestant.bench->gemm, WorkplaceOf(contestant), 0, run));
    Conclude(test, watched, contestant.tested);
    if (!contestant.tested.ended) continue;
    EndWrongly(contestant);
    return contestant.tested.touched_others ? Restore() : OkStatus();
  }
  End(contestant, OutcomeKind::kMeasured, "", "");
  return OkStatus();
}

// ---- counters

void Exchange::ReadCounters() {
  for (const auto& contestant : contestants_) {
    std::optional<Outcome>& outcome = judgements_.outcomes[size_t(contestant->place)];
    if (!outcome || (outcome->kind != OutcomeKind::kMeasured && outcome->kind != OutcomeKind::kVerified)) continue;
    const Step step = StepOf(std::string(kCountersStep), *contestant);
    on_step_(step);
    const SingleCall call{InLayout(problem_, contestant->message->layout), *contestant->message};
    outcome->counters = workshop_.counters.Read(
        {&call, &contestant->kernel, [&] { return Put(*contestant, *contestant->bench->normal, Chaining::kNone); }},
        [&] { on_step_(step); });
    if (workshop_.gpu.Synchronize().ok()) continue;
    judgements_.worker_is_lost = true;
    break;
  }
}

// ---- without candidates

Result<Outcome> RaceBaselines(const Workshop& workshop, ProblemSession& session, const ProblemMessage& problem,
                              const StepListener& on_step) {
  Outcome outcome;
  outcome.protocol = problem.protocol;
  outcome.baseline_algorithms = session.BaselineAlgorithms(problem);
  if (const std::vector<const Baseline*> rivals = session.RivalsFor(problem); !rivals.empty()) {
    const std::vector<Racer> racers = RacersOf(rivals, BatchFor(problem.protocol));
    const PutCall sweep = [&session] { return session.PutSweep(); };
    ASSIGN_OR_RETURN(const ContestResult result, RunContest(workshop, problem, racers, sweep, on_step));
    outcome.conditions = result.conditions;
    for (const std::vector<Timing>& timings : result.timings) Append(timings, outcome.timings);
    for (const std::vector<Comparison>& comparisons : result.comparisons) Append(comparisons, outcome.comparisons);
    RETURN_IF_ERROR(session.DismissUntidyRivals(problem, std::array{&outcome}));
  }
  outcome.kind = OutcomeKind::kMeasured;
  if (!outcome.timings.empty()) return outcome;
  std::vector<std::string> reasons;
  for (const auto& [name, reason] : outcome.baseline_algorithms) reasons.push_back(name + ": " + reason);
  return Unavailable(fmt::format("no baseline of {} is usable here: {}", Print(problem.gemm), Join(reasons, "; ")));
}

}  // namespace gemmsmith
