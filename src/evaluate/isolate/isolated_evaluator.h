// An Evaluator whose candidates run in a child process that may crash, hang or lie, and is then replaced.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "evaluate/evaluator.h"
#include "evaluate/isolate/worker_process.h"

namespace gemmsmith {

class IsolatedEvaluator : public Evaluator {
 public:
  // Starts the first worker. `lock`, if any, is held for the evaluator's life.
  static Result<std::unique_ptr<IsolatedEvaluator>> Start(std::vector<std::string> command, const WorkerLimits& limits,
                                                          std::optional<FileLock> lock);

  const Device& device() const override { return hello_.device; }
  Setting setting() const override { return hello_.setting; }
  Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) override;

  // -1 while there is none: the next request starts one.
  pid_t worker_pid() const { return worker_ ? worker_->pid() : -1; }

 private:
  IsolatedEvaluator(std::vector<std::string> command, const WorkerLimits& limits, std::optional<FileLock> lock)
      : command_(std::move(command)), limits_(limits), lock_(std::move(lock)) {}
  Status EnsureWorker();
  Status PrepareProblem(const ProblemMessage& problem);
  Result<Outcome> JudgeCandidate(const CandidateMessage& candidate);

  const std::vector<std::string> command_;
  const WorkerLimits limits_;
  std::optional<FileLock> lock_;
  WorkerHello hello_;
  std::optional<WorkerProcess> worker_;
};

}  // namespace gemmsmith
