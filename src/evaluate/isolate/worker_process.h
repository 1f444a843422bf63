// The program's side of the pipe: one worker, alive until it fails once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/messages.h"

namespace gemmsmith {

struct WorkerLimits {
  double start_seconds = 120;            // until the worker says hello
  double prepare_seconds = 300;          // for each step of preparing a problem
  double candidate_seconds = 10;         // for each step of judging a candidate
  double candidate_total_seconds = 600;  // for all steps, times the candidates of the list
};

// How a request ended that got no answer.
enum class WorkerEnd { kTimedOut, kDied, kDamaged };
struct WorkerFailure {
  WorkerEnd end = WorkerEnd::kDied;
  Step step;                // the last one it announced
  std::string explanation;  // "ended by signal 11 (Segmentation fault) in step 'first launch'; it said: ..."
};

class WorkerProcess {
 public:
  // Waits for its hello.
  static Result<WorkerProcess> Start(const std::vector<std::string>& command, double limit_seconds);

  const WorkerHello& hello() const { return hello_; }
  pid_t pid() const { return process_.pid(); }

  // The answer frame, whatever its type; or nothing, with `failure` filled and the worker killed and reaped. Each step
  // that the worker announces gets `step_seconds`, all of them together `total_seconds`.
  std::optional<Frame> Ask(FrameType type, const std::string& payload, double step_seconds, double total_seconds,
                           WorkerFailure& failure);
  // After its last answer.
  void End() { process_.KillAndReap(); }

 private:
  explicit WorkerProcess(PipedProcess process) : process_(std::move(process)) {}
  Result<Frame> Read(std::chrono::steady_clock::time_point deadline);
  WorkerFailure Explain(const Status& status, const Step& step, double seconds);

  PipedProcess process_;
  WorkerHello hello_;
};

}  // namespace gemmsmith
