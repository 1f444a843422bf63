#include "evaluate/exchange.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/unpredictable.h"
#include "evaluate/exchange_candidate.h"
#include "evaluate/isolate/once.h"

namespace gemmsmith {

namespace {

void Append(const auto& items, auto& to) { to.insert(to.end(), items.begin(), items.end()); }

}  // namespace

Exchange::Exchange(const GpuTools& tools, ProblemSession& session, const ProblemMessage& problem,
                   std::span<const CandidateMessage> candidates, const StepListener& on_step)
    : tools_(tools),
      session_(session),
      problem_(problem),
      candidates_(candidates),
      on_step_(on_step),
      verifier_(tools.gpu, tools.harness),
      random_(UnpredictableSeed()) {
  for (const CandidateMessage& candidate : candidates)
    if (!setups_.contains(candidate.layout))
      setups_.emplace(candidate.layout, session.TestSetupFor(InLayout(problem, candidate.layout), on_step));
  if (problem.time) baselines_ = session.BaselinesFor(problem);
  judgements_.outcomes.resize(candidates.size());
}

Exchange::~Exchange() {
  passed_.clear();
  tools_.workspaces.Release();
}

Result<Judgements> Exchange::Run() {
  for (size_t i = 0; i < candidates_.size() && !judgements_.worker_is_lost; ++i) RETURN_IF_ERROR(Test(i));
  if (!judgements_.worker_is_lost && problem_.time) RETURN_IF_ERROR(TimeAll());
  if (!judgements_.worker_is_lost && !problem_.time)
    for (const auto& candidate : passed_) End(*candidate, OutcomeKind::kVerified, "", "");
  if (!judgements_.worker_is_lost && problem_.counters) ReadCounters();
  return std::move(judgements_);
}

Step Exchange::StepOf(std::string name, const LoadedCandidate& candidate) const {
  return {std::move(name), candidate.index};
}

CallBuffers Exchange::BuffersOf(const LoadedCandidate& candidate) const {
  return {candidate.setup->normal, candidate.setup->output, candidate.workspace};
}

// ---- the end of a candidate

void Exchange::End(LoadedCandidate& candidate, OutcomeKind kind, std::string_view stage, std::string reason) {
  Outcome& outcome = candidate.outcome;
  outcome.kind = kind;
  outcome.stage = stage;
  outcome.reason = std::move(reason);
  if (kind == OutcomeKind::kLaunchFailed && !tools_.gpu.Synchronize().ok()) judgements_.worker_is_lost = true;
  judgements_.outcomes[size_t(candidate.index)] = outcome;
}

void Exchange::EndWrongly(LoadedCandidate& candidate) {
  const OutcomeKind kind = *candidate.tested.ended;
  candidate.outcome.verdict = candidate.tested.verdict;
  End(candidate, kind, StageOf(kind), candidate.tested.reason);
}

// Without this the next candidate would be charged with what this one did.
Status Exchange::Restore() {
  touched_others_ = true;
  if (judgements_.worker_is_lost) return OkStatus();
  on_step_({"restore"});
  RETURN_IF_ERROR(tools_.workspaces.Restore());
  return session_.Restore(on_step_);
}

// ---- timing

Status Exchange::TimeAll() {
  RETURN_IF_ERROR(CaptureAll());
  if (judgements_.worker_is_lost || passed_.empty()) return OkStatus();
  const Status timed = RunRaces();
  if (timed.ok()) return LookAfterwards();
  if (tools_.gpu.Synchronize().ok()) return timed;
  // A kernel crashed in the race. The driver then fails every batch, so the culprit is known only if one candidate
  // raced.
  judgements_.worker_is_lost = true;
  if (passed_.size() == 1)
    End(*passed_[0], OutcomeKind::kLaunchFailed, "timing", timed.message());
  else
    judgements_.one_by_one = true;
  return OkStatus();
}

Status Exchange::CaptureAll() {
  for (size_t i = 0; i < passed_.size() && !judgements_.worker_is_lost;) {
    on_step_(StepOf("capture", *passed_[i]));
    const Status captured = Capture(*passed_[i]);
    if (captured.ok()) {
      ++i;
      continue;
    }
    End(*passed_[i], OutcomeKind::kLaunchFailed, "timing", captured.message());
    passed_.erase(passed_.begin() + std::ptrdiff_t(i));
  }
  return OkStatus();
}

Status Exchange::Capture(LoadedCandidate& candidate) {
  const auto call = [&](Chaining chaining) -> PutCall {
    return [this, &candidate, chaining] { return Put(candidate, *candidate.setup->normal, chaining); };
  };
  // Repeated calls would reward what a source keeps of the last one.
  const bool repeats =
      (problem_.clocks.Has(Clock::kDevice) || problem_.clocks.Has(Clock::kEnergy)) && !candidate.message->source;
  candidate.call_ns = candidate.tested.call_ns;
  if (repeats) {
    ASSIGN_OR_RETURN(candidate.call_ns, EstimateCall(candidate, call(Chaining::kNone)));
  }
  candidate.is_hopeless = IsHopeless(candidate.call_ns);
  const auto add = [&](Clock clock, Chaining chaining) -> Status {
    ASSIGN_OR_RETURN(candidate.graphs[clock],
                     CallGraph::Capture(tools_.gpu, call(chaining), candidate.call_ns, BatchFor(problem_.protocol)));
    return OkStatus();
  };
  if (problem_.clocks.Has(Clock::kDeviceCold)) RETURN_IF_ERROR(CaptureOnRing(candidate));
  if (!repeats) return OkStatus();
  RETURN_IF_ERROR(add(Clock::kDevice, Chaining::kNone));
  const bool is_chained = problem_.clocks.Has(Clock::kDevice) && candidate.graphs[Clock::kDevice].calls > 1 &&
                          WantsChain(candidate, Clock::kDevice);
  return is_chained ? add(Clock::kDeviceChained, Chaining::kProgrammatic) : OkStatus();
}

Status Exchange::CaptureOnRing(LoadedCandidate& candidate) {
  std::vector<CandidateCall::Bound> sets;
  for (const CallAddresses& addresses :
       session_.ring()->SetsFor(candidate.message->layout, BatchFor(problem_.protocol))) {
    ASSIGN_OR_RETURN(sets.emplace_back(), Bind(candidate, addresses));
  }
  const auto add = [&](Clock clock, Chaining chaining) -> Status {
    std::vector<PutCall> calls;
    for (const CandidateCall::Bound& bound : sets)
      calls.push_back([&candidate, &bound, chaining] { return candidate.code->Put(bound, chaining); });
    ASSIGN_OR_RETURN(candidate.graphs[clock], CallGraph::Capture(tools_.gpu, calls, int(calls.size())));
    return OkStatus();
  };
  RETURN_IF_ERROR(add(Clock::kDeviceCold, Chaining::kNone));
  return WantsChain(candidate, Clock::kDeviceCold) ? add(Clock::kDeviceColdChained, Chaining::kProgrammatic)
                                                   : OkStatus();
}

// A chain costs another visit a round: a screen has none unless B is constant or chains were asked for. It saves less
// than a thousandth of a long call. Sources are judged by plain calls.
bool Exchange::WantsChain(const LoadedCandidate& candidate, Clock plain) const {
  const bool is_wanted =
      problem_.protocol != Protocol::kScreen || problem_.gemm.kind.constant_b || problem_.clocks.Has(ChainedOf(plain));
  return is_wanted && candidate.late != nullptr && !candidate.message->source && !candidate.is_hopeless &&
         !IsLongCall(candidate.call_ns);
}

// For the size of a batch. The tests time a long call well enough.
Result<double> Exchange::EstimateCall(const LoadedCandidate& candidate, const PutCall& call) {
  constexpr double kLongNs = 1e6;
  if (candidate.tested.call_ns > kLongNs) return candidate.tested.call_ns;
  return EstimateNs(
      tools_.gpu, [this] { return tools_.harness.LeadIn(); }, call);
}

// The tests time a single call, with what lies between two events.
bool Exchange::IsHopeless(double call_ns) const {
  constexpr double kFactor = 2.5, kCheapNs = 0.1e6, kBetweenEventsNs = 5e3;
  if (problem_.protocol != Protocol::kScreen || baselines_.empty()) return false;
  const bool on_ring = problem_.clocks.Has(Clock::kDeviceCold);
  const int calls = on_ring ? RingPlan::For(problem_.gemm).SetsOf(BatchFor(problem_.protocol)) : 1;
  if (call_ns * calls <= kCheapNs) return false;
  const Baseline& fastest =
      **std::min_element(baselines_.begin(), baselines_.end(),
                         [](const Baseline* x, const Baseline* y) { return x->call_ns < y->call_ns; });
  return call_ns - kBetweenEventsNs > kFactor * fastest.call_ns;
}

std::vector<TimedCall> Exchange::TimedCallsOf() const {
  std::vector<TimedCall> timed_calls;
  for (const auto& candidate : passed_) {
    TimedCall& timed_call = timed_calls.emplace_back();
    timed_call.candidate = candidate->index;
    timed_call.layout = candidate->message->layout;
    timed_call.is_hopeless = candidate->is_hopeless;
    timed_call.call_ns = candidate->call_ns;
    timed_call.call = [this, &racing = *candidate] { return Put(racing, *racing.setup->normal, Chaining::kNone); };
    for (const auto& [clock, graph] : candidate->graphs) timed_call.graphs[clock] = &graph;
  }
  Append(gemmsmith::TimedCallsOf(baselines_, BatchFor(problem_.protocol)), timed_calls);
  return timed_calls;
}

// Each outcome has its own times first, then those of the baselines, which all outcomes share.
Status Exchange::RunRaces() {
  const std::vector<TimedCall> timed_calls = TimedCallsOf();
  ASSIGN_OR_RETURN(const ContestResult result, RunContest(tools_, problem_, timed_calls, session_.ring(), on_step_));
  for (size_t i = 0; i < passed_.size(); ++i) {
    Outcome& outcome = passed_[i]->outcome;
    if (!result.faults[i].empty()) {
      gemmsmith::Conclude(OutputTestOf(Clock::kDeviceCold), {.wrong = result.faults[i]}, passed_[i]->tested);
      continue;
    }
    outcome.conditions = result.conditions;
    Append(result.timings[i], outcome.timings);
    for (size_t baseline = passed_.size(); baseline < timed_calls.size(); ++baseline)
      Append(result.timings[baseline], outcome.timings);
    Append(result.comparisons[i], outcome.comparisons);
  }
  std::vector<Outcome*> outcomes;
  for (const auto& candidate : passed_) outcomes.push_back(&candidate->outcome);
  return session_.WithdrawUntidyBaselines(problem_, std::span(result.faults).subspan(passed_.size()), outcomes);
}

// ---- after the race

Status Exchange::LookAfterwards() {
  const bool is_alone = passed_.size() == 1;
  on_step_({"inspection"});
  ASSIGN_OR_RETURN(const std::string damage, LookForDamage());
  if (!damage.empty() && !is_alone) {
    judgements_.one_by_one = true;
    return Restore();
  }
  for (const auto& candidate : passed_) {
    RETURN_IF_ERROR(LookAtTimedOutput(*candidate));
    if (judgements_.worker_is_lost) return OkStatus();
  }
  if (damage.empty()) return OkStatus();
  // In operands of another layout than its own, or its timed output would have told.
  if (LoadedCandidate& alone = *passed_[0]; !alone.tested.ended) {
    gemmsmith::Conclude("inspection", {.damage = damage}, alone.tested);
    EndWrongly(alone);
  }
  return Restore();
}

Result<std::string> Exchange::LookForDamage() {
  for (const Inputs* const inputs : session_.NormalInputs()) {
    ASSIGN_OR_RETURN(std::string damage, verifier_.LookForDamage({inputs, &session_.output()}));
    if (!damage.empty()) return damage;
  }
  std::vector<const GuardedWorkspace*> workspaces;
  for (const auto& candidate : passed_) workspaces.push_back(candidate->workspace);
  return verifier_.LookAtWorkspaces(workspaces);
}

// All candidates share one output, which holds what ran last. So what was timed runs once more, on a poisoned output;
// on the ring every timed call was looked at.
Status Exchange::LookAtTimedOutput(LoadedCandidate& candidate) {
  if (candidate.tested.ended) {
    EndWrongly(candidate);
    return OkStatus();
  }
  std::vector<std::pair<std::string, PutCall>> runs;
  for (const auto& [clock, graph] : candidate.graphs)
    if (PlainOf(clock) != Clock::kDeviceCold)
      for (const Graph& timed : graph.twins)
        runs.emplace_back(OutputTestOf(clock), [this, &timed] { return tools_.gpu.Replay(timed); });
  for (int i = 0; i <= int(kLastClock); ++i)
    if (problem_.clocks.Has(Clock(i)) && !IsOfGraphs(Clock(i)))
      runs.emplace_back(OutputTestOf(Clock(i)),
                        [&] { return Put(candidate, *candidate.setup->normal, Chaining::kNone); });
  for (const auto& [test, run] : runs) {
    on_step_(StepOf(fmt::format("test {}", test), candidate));
    ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(candidate.setup->gemm, BuffersOf(candidate), 0, run));
    gemmsmith::Conclude(test, watched, candidate.tested);
    if (!candidate.tested.ended) continue;
    EndWrongly(candidate);
    return candidate.tested.touched_others ? Restore() : OkStatus();
  }
  End(candidate, OutcomeKind::kMeasured, "", "");
  return OkStatus();
}

// ---- counters

void Exchange::ReadCounters() {
  for (const auto& candidate : passed_) {
    std::optional<Outcome>& outcome = judgements_.outcomes[size_t(candidate->index)];
    if (!outcome || (outcome->kind != OutcomeKind::kMeasured && outcome->kind != OutcomeKind::kVerified)) continue;
    const Step step = StepOf(std::string(kCountersStep), *candidate);
    on_step_(step);
    const SingleCall call{InLayout(problem_, candidate->message->layout), *candidate->message};
    outcome->counters = tools_.counters.Read(
        {candidate->code->Residencies(candidate->calls.at(candidate->setup->normal)),
         [&] { return Put(*candidate, *candidate->setup->normal, Chaining::kNone); },
         [&](const auto& folder) { return OtherProcessFor(call, tools_.gpu.identity().ordinal, folder); }},
        [&] { on_step_(step); });
    if (tools_.gpu.Synchronize().ok()) continue;
    judgements_.worker_is_lost = true;
    break;
  }
}

// ---- without candidates

Result<Outcome> RaceBaselines(const GpuTools& tools, ProblemSession& session, const ProblemMessage& problem,
                              const StepListener& on_step) {
  Outcome outcome;
  outcome.protocol = problem.protocol;
  outcome.baseline_algorithms = session.BaselineAlgorithms(problem);
  if (const std::vector<const Baseline*> baselines = session.BaselinesFor(problem); !baselines.empty()) {
    const std::vector<TimedCall> timed_calls = TimedCallsOf(baselines, BatchFor(problem.protocol));
    ASSIGN_OR_RETURN(const ContestResult result, RunContest(tools, problem, timed_calls, session.ring(), on_step));
    outcome.conditions = result.conditions;
    for (const std::vector<Timing>& timings : result.timings) Append(timings, outcome.timings);
    for (const std::vector<Comparison>& comparisons : result.comparisons) Append(comparisons, outcome.comparisons);
    RETURN_IF_ERROR(session.WithdrawUntidyBaselines(problem, result.faults, std::array{&outcome}));
  }
  outcome.kind = OutcomeKind::kMeasured;
  if (!outcome.timings.empty()) return outcome;
  std::vector<std::string> reasons;
  for (const auto& [name, reason] : outcome.baseline_algorithms) reasons.push_back(name + ": " + reason);
  return Unavailable(fmt::format("no baseline of {} is usable here: {}", Print(problem.gemm), Join(reasons, "; ")));
}

}  // namespace gemmsmith
