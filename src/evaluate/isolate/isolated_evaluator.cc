#include "evaluate/isolate/isolated_evaluator.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/seconds.h"
#include "evaluate/baseline/baseline.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxTogether = 32;
constexpr uint64_t kMaxBytesTogether = uint64_t{64} << 20;

Outcome Unanswered(const WorkerFailure& failure) {
  Outcome outcome;
  outcome.kind = failure.end == WorkerEnd::kTimedOut ? OutcomeKind::kTimedOut : OutcomeKind::kLaunchFailed;
  outcome.stage = "launch";
  outcome.reason = fmt::format("the worker {}", failure.explanation);
  return outcome;
}

// A profiler may end the worker. That blames no candidate: all are judged again without it.
bool IsProfilersFault(const WorkerFailure& failure) { return failure.step.name == kCountersStep; }

void SayWhyNoCounters(const std::string& reason, Outcome& outcome) {
  const bool passed = outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
  if (passed && !outcome.counters) outcome.counters.emplace().lacks = reason;
}

// Blames the candidate whose step it was. A step of no candidate blames none.
Judgements Unanswered(const WorkerFailure& failure, size_t messages) {
  Judgements judgements;
  judgements.outcomes.resize(messages);
  const bool alone = messages == 1;
  const bool is_known = failure.step.candidate >= 0 && size_t(failure.step.candidate) < messages;
  if (alone || is_known) judgements.outcomes[alone ? 0 : size_t(failure.step.candidate)] = Unanswered(failure);
  judgements.worker_is_lost = true;
  judgements.one_by_one = !alone && !is_known;
  return judgements;
}

int Smaller(int size) { return size >= 16 ? size / 2 / 8 * 8 : (size + 1) / 2; }

// A shape whose matrices lie within the problem's and for which the plan becomes the same text. Returns nullopt where
// there is none, as for plans that fix the dimensions.
std::optional<OtherShape> OtherShapeFor(const Plan& plan, const Gemm& gemm, const Device& device) {
  const auto [m, n, k] = gemm.shape;
  const std::string text = Emit(plan, gemm).text;
  const Launch launch = LaunchFor(plan, gemm);
  for (const Shape& shape : {Shape{Smaller(m), Smaller(n), Smaller(k)},
                             {Smaller(m), Smaller(n), k},
                             {Smaller(m), n, k},
                             {m, Smaller(n), k},
                             {m, n, Smaller(k)}}) {
    Gemm other{shape, gemm.kind, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
    if (shape == gemm.shape || !IsLegal(plan, other, device) || Emit(plan, other).text != text) continue;
    const Launch smaller = LaunchFor(plan, other);
    if (smaller.smem_bytes <= launch.smem_bytes && smaller.workspace_bytes <= launch.workspace_bytes)
      return OtherShape{shape, smaller};
  }
  return std::nullopt;
}

ProblemMessage InWhateverLayout(const EvaluationRequest& request) {
  ProblemMessage problem = ProblemOf(request);
  problem.gemm = WithoutLayout(problem.gemm);
  return problem;
}

// The number of candidates, from the first on, that make one exchange: at least one.
size_t ExchangeSize(Protocol protocol, std::span<const CandidateMessage> messages) {
  const bool is_heat = protocol == Protocol::kHeat;
  const uint64_t max_bytes = is_heat ? kMaxPayloadBytes - (1 << 20) : kMaxBytesTogether;
  const size_t most = std::min(messages.size(), kMaxTogether);
  size_t count = 0;
  for (uint64_t bytes = 0; count < most; ++count)
    if (bytes += EncodedBytes(messages[count]); bytes > max_bytes && count > 0) break;
  return count;
}

bool UsesWorkspace(const PreparedSource& source) {
  return source.recipe.UsesWorkspace() || (source.half_recipe && source.half_recipe->UsesWorkspace());
}

// Sources are timed on the ring, where every timed call is checked.
ProblemMessage ProblemOf(const EvaluationRequest& request, std::span<const CandidateMessage> messages) {
  ProblemMessage problem = ProblemOf(request);
  const bool has_source = std::any_of(messages.begin(), messages.end(),
                                      [](const CandidateMessage& message) { return message.source.has_value(); });
  if (has_source && problem.time) problem.clocks.Add(Clock::kDeviceCold);
  return problem;
}

}  // namespace

ProblemMessage ProblemOf(const EvaluationRequest& request) {
  ProblemMessage problem{request};
  const ClockSet& clocks = problem.clocks;
  if (!clocks.Has(Clock::kDeviceCold) && !clocks.Has(Clock::kDevice)) problem.clocks.Add(Clock::kDeviceCold);
  return problem;
}

CandidateMessage MessageFor(const Candidate& candidate, const Device& device) {
  const Compilation& compilation = candidate.prepared.compilation;
  const EvaluationRequest& request = candidate.request;
  GEMMSMITH_CHECK(compilation.succeeded, "a candidate without a binary: {}", compilation.log);
  const Layout& layout = request.gemm.kind.layout;
  if (const std::optional<PreparedSource>& source = candidate.prepared.source) {
    CandidateMessage message{.source = source, .layout = layout};
    if (UsesWorkspace(*source)) message.launch.workspace_bytes = kBaselineWorkspaceBytes;
    return message;
  }
  CandidateMessage message{LaunchFor(request.plan(), request.gemm), compilation.binary.entry, compilation.binary.cubin};
  message.layout = layout;
  if (ProblemOf(request).WantsEverything()) message.other = OtherShapeFor(request.plan(), request.gemm, device);
  return message;
}

Result<std::unique_ptr<IsolatedEvaluator>> IsolatedEvaluator::Start(std::vector<std::string> command,
                                                                    const WorkerLimits& limits,
                                                                    std::optional<FileLock> lock) {
  std::unique_ptr<IsolatedEvaluator> evaluator(new IsolatedEvaluator(std::move(command), limits, std::move(lock)));
  RETURN_IF_ERROR(evaluator->EnsureWorker());
  return evaluator;
}

Status IsolatedEvaluator::EnsureWorker() {
  if (worker_) return OkStatus();
  ASSIGN_OR_RETURN(WorkerProcess worker, WorkerProcess::Start(command_, limits_.start_seconds));
  hello_ = worker.hello();
  worker_ = std::move(worker);
  worker_has_verified_ = worker_has_counted_ = false;
  return OkStatus();
}

// A worker that tested without timing may have put work on two streams (TestSetup::is_untimed). A process that a
// profiler was in may take longer to launch: the device's own clocks hardly see it, the clocks of single calls do.
bool IsolatedEvaluator::WorkerMayTime(const ProblemMessage& problem) const {
  const bool times_calls = std::any_of(std::begin(kCallClocks), std::end(kCallClocks),
                                       [&](Clock clock) { return problem.clocks.Has(clock); });
  return !worker_has_verified_ && !(worker_has_counted_ && times_calls);
}

void IsolatedEvaluator::EndWorker() {
  worker_->End();
  worker_.reset();
}

// A call that the driver failed may have cost the worker its context: the next request gets a fresh worker.
Status IsolatedEvaluator::GiveUp(Status failure) {
  if (failure.code() != StatusCode::kIoError) return failure;
  EndWorker();
  return failure;
}

// A worker that fails here has no candidate yet: it was ended from outside while idle, or by the traces of an earlier
// candidate. One fresh worker gets a second chance.
Status IsolatedEvaluator::PrepareProblem(const ProblemMessage& problem) {
  if (problem.time && worker_ && !WorkerMayTime(problem)) EndWorker();
  WorkerFailure failure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    RETURN_IF_ERROR(EnsureWorker());
    const std::optional<Frame> answer = worker_->Ask(FrameType::kProblem, Encode(problem), limits_.prepare_seconds,
                                                     10 * limits_.prepare_seconds, failure);
    worker_has_verified_ = worker_has_verified_ || !problem.time;
    worker_has_counted_ = worker_has_counted_ || problem.counters;
    if (answer && answer->type == FrameType::kReady) return OkStatus();
    if (answer && answer->type == FrameType::kFailed) return GiveUp(DecodeFailure(answer->payload));
    if (answer) {
      worker_->End();
      failure.explanation = "answered out of turn";
    }
    worker_.reset();
  }
  return IoError(fmt::format("preparing {}: the worker {}", Print(problem.gemm), failure.explanation));
}

Status IsolatedEvaluator::PrepareLayouts(const ProblemMessage& problem, std::span<const CandidateMessage> messages) {
  const Layout own = messages.front().layout;
  std::set<Layout> others;
  for (const CandidateMessage& candidate : messages) others.insert(candidate.layout);
  others.erase(own);
  for (const Layout& layout : others) RETURN_IF_ERROR(PrepareProblem(InLayout(problem, layout)));
  return PrepareProblem(InLayout(problem, own));
}

Result<Judgements> IsolatedEvaluator::Ask(FrameType type, const std::string& payload, size_t count,
                                          WorkerFailure& failure) {
  const std::optional<Frame> answer =
      worker_->Ask(type, payload, limits_.candidate_seconds, double(count) * limits_.candidate_total_seconds, failure);
  if (!answer) {
    worker_.reset();
    return Unanswered(failure, count);
  }
  if (answer->type == FrameType::kFailed) return GiveUp(DecodeFailure(answer->payload));
  Result<Judgements> judgements = DataLoss("an answer out of turn");
  if (answer->type == FrameType::kJudged) judgements = DecodeJudgements(answer->payload);
  if (judgements.ok() && judgements->outcomes.size() != count)
    judgements = DataLoss(fmt::format("{} judgements of {} candidates", judgements->outcomes.size(), count));
  if (judgements.ok() && count == 1 && !judgements->outcomes[0])
    judgements = DataLoss("no outcome of a candidate that was alone");
  if (!judgements.ok() || judgements->worker_is_lost) EndWorker();
  if (judgements.ok()) return judgements;
  return Unanswered({WorkerEnd::kDamaged, {}, fmt::format("sent {} and was killed", judgements.status().message())},
                    count);
}

// This ends: every round answers a candidate, drops the counters, or is the last one that sends several.
Status IsolatedEvaluator::JudgeAll(const ProblemMessage& problem, std::span<const CandidateMessage> messages,
                                   std::span<std::optional<Outcome>> answers) {
  std::vector<size_t> waiting(messages.size());
  for (size_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
  bool one_by_one = false;
  ProblemMessage asked = problem;
  std::string why_no_counters;
  while (!waiting.empty()) {
    const size_t count = one_by_one ? 1 : waiting.size();
    std::vector<CandidateMessage> sent;
    for (size_t i = 0; i < count; ++i) sent.push_back(messages[waiting[i]]);
    RETURN_IF_ERROR(PrepareLayouts(asked, sent));
    const auto start = std::chrono::steady_clock::now();
    WorkerFailure failure;
    ASSIGN_OR_RETURN(Judgements judgements, Ask(FrameType::kCandidates, Encode(sent), sent.size(), failure));
    if (asked.counters && IsProfilersFault(failure)) {
      asked.counters = false;
      why_no_counters = fmt::format("the worker {}", failure.explanation);
      continue;
    }
    const double seconds = SecondsSince(start);
    for (size_t i = 0; i < count; ++i) {
      if (!judgements.outcomes[i]) continue;
      judgements.outcomes[i]->evaluate_seconds = seconds / double(count);
      if (!why_no_counters.empty()) SayWhyNoCounters(why_no_counters, *judgements.outcomes[i]);
      answers[waiting[i]] = std::move(judgements.outcomes[i]);
    }
    const size_t before = waiting.size();
    std::erase_if(waiting, [&](size_t i) { return answers[i].has_value(); });
    const bool is_stuck = waiting.size() == before;
    GEMMSMITH_CHECK(!is_stuck || count > 1, "a single candidate was left unanswered");
    one_by_one = one_by_one || judgements.one_by_one || is_stuck;
  }
  return OkStatus();
}

std::vector<Result<Outcome>> IsolatedEvaluator::EvaluateTogether(std::span<const Candidate> candidates) {
  std::vector<std::optional<Outcome>> answers(candidates.size());
  std::vector<CandidateMessage> messages;
  std::vector<size_t> places;  // of the messages among the candidates
  for (size_t i = 0; i < candidates.size(); ++i) {
    GEMMSMITH_CHECK(InWhateverLayout(candidates[i].request) == InWhateverLayout(candidates[0].request),
                    "contenders for different problems are judged together");
    if (candidates[i].prepared.ended) {
      answers[i] = candidates[i].prepared.ended;
    } else {
      messages.push_back(MessageFor(candidates[i], hello_.device));
      places.push_back(i);
    }
  }

  std::vector<std::optional<Outcome>> judged(messages.size());
  Status failure;
  for (size_t first = 0; first < messages.size() && failure.ok();) {
    const std::span<const CandidateMessage> rest = std::span(messages).subspan(first);
    const EvaluationRequest& request = candidates[0].request;
    const size_t count = ExchangeSize(request.protocol, rest);
    const std::span<const CandidateMessage> together = rest.first(count);
    failure = JudgeAll(ProblemOf(request, together), together, std::span(judged).subspan(first, count));
    first += count;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (!judged[i]) continue;
    const Candidate& candidate = candidates[places[i]];
    judged[i]->facts = candidate.prepared.compilation.binary.facts;
    if (const auto& source = candidate.prepared.source) judged[i]->recipe = Print(source->recipe);
    judged[i]->protocol = candidate.request.protocol;
    judged[i]->compile_seconds = candidate.prepared.compilation.seconds;
    answers[places[i]] = std::move(judged[i]);
  }
  std::vector<Result<Outcome>> outcomes;
  for (std::optional<Outcome>& answer : answers)
    outcomes.push_back(answer ? Result<Outcome>(*std::move(answer)) : Result<Outcome>(failure));
  return outcomes;
}

Result<Outcome> IsolatedEvaluator::RaceBaselines(const EvaluationRequest& request) {
  ProblemMessage problem = ProblemOf(request);
  problem.clocks = request.clocks;
  problem.time = true;
  problem.only_baselines = true;
  RETURN_IF_ERROR(PrepareProblem(problem));
  const auto start = std::chrono::steady_clock::now();
  WorkerFailure failure;
  ASSIGN_OR_RETURN(Judgements judgements, Ask(FrameType::kRace, "", 1, failure));
  Outcome& outcome = judgements.outcomes[0].value();
  if (outcome.kind != OutcomeKind::kMeasured)
    return IoError(fmt::format("racing the baselines of {}: {}", Print(request.gemm), outcome.reason));
  outcome.protocol = request.protocol;
  outcome.evaluate_seconds = SecondsSince(start);
  return outcome;
}

Result<Outcome> IsolatedEvaluator::Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) {
  const Candidate whole{request, candidate};
  return std::move(EvaluateTogether({&whole, 1})[0]);
}

}  // namespace gemmsmith
