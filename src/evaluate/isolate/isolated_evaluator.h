// An Evaluator whose candidates run in a child process. The process may crash, hang or lie; it is then replaced.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "evaluate/evaluator.h"
#include "evaluate/isolate/worker_process.h"

namespace gemmsmith {

// A request and one of its candidates as the worker's messages.
ProblemMessage ProblemOf(const EvaluationRequest& request);
CandidateMessage MessageFor(const Candidate& candidate, const Device& device);

class IsolatedEvaluator : public Evaluator {
 public:
  // Starts the first worker. `lock`, if any, is held for the evaluator's life.
  static Result<std::unique_ptr<IsolatedEvaluator>> Start(std::vector<std::string> command, const WorkerLimits& limits,
                                                          std::optional<FileLock> lock);

  const Device& device() const override { return hello_.device; }
  Setting setting() const override { return hello_.setting; }
  Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) override;
  // In exchanges of at most 32 candidates and 64 MiB. A heat is one race, so its bytes do not divide it. A
  // candidate that hangs or crashes costs its own outcome and one worker: the others of its exchange are sent again.
  std::vector<Result<Outcome>> EvaluateTogether(std::span<const Candidate> candidates) override;

  Result<Outcome> RaceBaselines(const EvaluationRequest& request) override;

  // -1 while there is none: the next request starts one.
  pid_t worker_pid() const { return worker_ ? worker_->pid() : -1; }

 private:
  IsolatedEvaluator(std::vector<std::string> command, const WorkerLimits& limits, std::optional<FileLock> lock)
      : command_(std::move(command)), limits_(limits), lock_(std::move(lock)) {}
  Status EnsureWorker();
  void EndWorker();
  bool WorkerMayTime(const ProblemMessage& problem) const;
  Status PrepareProblem(const ProblemMessage& problem);
  // Prepares the problem in every layout of these, the first candidate's last.
  Status PrepareLayouts(const ProblemMessage& problem, std::span<const CandidateMessage> messages);
  Status GiveUp(Status failure);
  // Fills the answers of these candidates, with as many workers as it takes. Stops at a failure of the environment.
  Status JudgeAll(const ProblemMessage& problem, std::span<const CandidateMessage> messages,
                  std::span<std::optional<Outcome>> answers);
  // Asks one worker once, about the problem just prepared. Candidates left unanswered must be sent again; a candidate
  // that is alone is always answered.
  Result<Judgements> Ask(FrameType type, const std::string& payload, size_t count, WorkerFailure& failure);

  const std::vector<std::string> command_;
  const WorkerLimits limits_;
  std::optional<FileLock> lock_;
  WorkerHello hello_;
  std::optional<WorkerProcess> worker_;
  bool worker_has_verified_ = false;  // tested without timing: it times nothing any more
  bool worker_has_counted_ = false;   // had a profiler: it times no single calls any more
};

}  // namespace gemmsmith
