// The judge behind a real worker: one GPU, its sessions, its clocks.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "evaluate/isolate/messages.h"
#include "evaluate/session.h"
#include "evaluate/time/pairing.h"

namespace gemmsmith {

class GpuJudge : public Judge {
 public:
  // Compiles the harness (through the cache in HomeFolder()) and opens the libraries.
  static Result<std::unique_ptr<GpuJudge>> Open(int gpu_ordinal);

  const WorkerHello& hello() const { return hello_; }
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step) override;
  Result<Judgement> Evaluate(const CandidateMessage& candidate, const StepListener& on_step) override;

  Gpu& gpu() { return *gpu_; }
  HarnessKernels& harness() { return *harness_; }

 private:
  GpuJudge() = default;
  Result<ProblemSession*> FindOrCreateSession(const Gemm& gemm, uint64_t seed);
  // False: there is not that much memory.
  Result<bool> FitWorkspace(uint64_t bytes);
  // Fills the outcome; a Status only where the harness failed. `call(inputs)` puts one call on the stream.
  Status TestAndTime(const std::function<Status(const Inputs&)>& call, const StepListener& on_step, Outcome& outcome);
  Status Time(const PutCall& call, const StepListener& on_step, Outcome& outcome);
  Status RunDeviceClock(const PutCall& call, const StepListener& on_step, Outcome& outcome);
  Status RunOfflineClock(const PutCall& call, const StepListener& on_step, Outcome& outcome);
  std::vector<RaceEntry> Entries() const;
  RaceRules Rules() const;
  ReadCondition ConditionReader() const;
  // The session may have been damaged: the next request makes a new one.
  void ForgetSession();

  // In the order of construction: what comes later uses what comes before.
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<HarnessKernels> harness_;
  std::unique_ptr<Cublas> cublas_;
  DeviceMemory baseline_workspace_;
  std::optional<GuardedWorkspace> workspace_;
  std::list<std::unique_ptr<ProblemSession>> sessions_;  // the one used last in front
  ProblemMessage problem_;
  WorkerHello hello_;
};

}  // namespace gemmsmith
