// The judge behind a real worker: one GPU, its sessions, its clocks.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "evaluate/exchange.h"
#include "evaluate/isolate/messages.h"

namespace gemmsmith {

class GpuJudge : public Judge {
 public:
  // Compiles the harness (through the cache in HomeFolder()) and opens the libraries.
  static Result<std::unique_ptr<GpuJudge>> Open(int gpu_ordinal);

  const WorkerHello& hello() const { return hello_; }
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step) override;
  Result<Judgements> Evaluate(std::span<const CandidateMessage> candidates, const StepListener& on_step) override;
  Result<Judgements> RaceBaselines(const StepListener& on_step) override;
  // Switches the profiler off. So does what is about to take times.
  void TidyUp() override;

  Gpu& gpu() { return *gpu_; }
  HarnessKernels& harness() { return *harness_; }

 private:
  GpuJudge() = default;
  Result<ProblemSession*> FindOrCreateSession(const ProblemMessage& problem);
  GpuTools tools() { return {*gpu_, *harness_, *workspaces_, nvml_.get(), last_race_, *counters_}; }
  // Workspaces, then sessions go, the one used longest ago first, until so many bytes are free or so many sessions
  // left.
  void MakeRoom(uint64_t bytes, size_t kept_sessions);
  void DropOtherSessions();
  // The answer, or what it means where this worker's context is gone.
  Result<Judgements> UnlessLost(Result<Judgements> judgements, size_t candidates);

  // In the order of construction: what comes later uses what comes before.
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<HarnessKernels> harness_;
  std::unique_ptr<Cublas> cublas_;
  DeviceMemory baseline_workspace_;
  std::optional<TorchLibrary> torch_;
  std::optional<CounterReader> counters_;
  std::optional<Workspaces> workspaces_;
  std::list<std::unique_ptr<ProblemSession>> sessions_;  // the one used last in front
  std::chrono::steady_clock::time_point last_race_;
  ProblemMessage problem_;
  WorkerHello hello_;
  std::unique_ptr<Exchange> answered_;  // the kernels of the last list: unloading them takes as long as an answer
};

}  // namespace gemmsmith
