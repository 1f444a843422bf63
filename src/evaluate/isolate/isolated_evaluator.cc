#include "evaluate/isolate/isolated_evaluator.h"

#include <chrono>

#include "program/launch.h"

namespace gemmsmith {

namespace {

Outcome Unanswered(const WorkerFailure& failure) {
  Outcome outcome;
  outcome.kind = failure.end == WorkerEnd::kTimedOut ? OutcomeKind::kTimedOut : OutcomeKind::kLaunchFailed;
  outcome.stage = "launch";
  outcome.reason = fmt::format("the worker {}", failure.explanation);
  return outcome;
}

}  // namespace

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
  return OkStatus();
}

// A worker that fails here does so without a candidate: it was ended from outside while idle, or by what the candidate
// before left behind. One fresh worker gets a second chance.
Status IsolatedEvaluator::PrepareProblem(const ProblemMessage& problem) {
  WorkerFailure failure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    RETURN_IF_ERROR(EnsureWorker());
    const std::optional<Frame> answer = worker_->Ask(FrameType::kProblem, Encode(problem), limits_.prepare_seconds,
                                                     10 * limits_.prepare_seconds, failure);
    if (answer && answer->type == FrameType::kReady) return OkStatus();
    if (answer && answer->type == FrameType::kFailed) return DecodeFailure(answer->payload);
    if (answer) {
      worker_->End();
      failure.explanation = "answered out of turn";
    }
    worker_.reset();
  }
  return IoError(fmt::format("preparing {}: the worker {}", Print(problem.gemm), failure.explanation));
}

Result<Outcome> IsolatedEvaluator::JudgeCandidate(const CandidateMessage& candidate) {
  WorkerFailure failure;
  const std::optional<Frame> answer = worker_->Ask(FrameType::kCandidate, Encode(candidate), limits_.candidate_seconds,
                                                   limits_.candidate_total_seconds, failure);
  if (!answer) {
    worker_.reset();
    return Unanswered(failure);
  }
  if (answer->type == FrameType::kFailed) return DecodeFailure(answer->payload);
  Result<Judgement> judgement = DataLoss("an answer out of turn");
  if (answer->type == FrameType::kJudged) judgement = DecodeJudgement(answer->payload);
  if (!judgement.ok() || judgement->worker_is_lost) {
    worker_->End();
    worker_.reset();
  }
  if (!judgement.ok())
    return Unanswered({WorkerEnd::kDamaged, "", fmt::format("sent {} and was killed", judgement.status().message())});
  return std::move(judgement->outcome);
}

Result<Outcome> IsolatedEvaluator::Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) {
  if (candidate.ended) return *candidate.ended;
  const Compilation& compilation = candidate.compilation;
  GEMMSMITH_CHECK(compilation.succeeded, "a candidate without a binary: {}", compilation.log);
  RETURN_IF_ERROR(PrepareProblem({request.gemm, request.protocol, request.offline_clock, request.seed}));
  const auto prepared = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(Outcome outcome, JudgeCandidate({LaunchFor(request.plan, request.gemm), compilation.binary.entry,
                                                    compilation.binary.cubin}));
  outcome.facts = compilation.binary.facts;
  outcome.protocol = request.protocol;
  outcome.compile_seconds = compilation.seconds;
  outcome.evaluate_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - prepared).count();
  return outcome;
}

}  // namespace gemmsmith
