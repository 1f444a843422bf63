// One list of candidates for a prepared problem: each is tested, those that pass are timed in one race.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "evaluate/candidate_call.h"
#include "evaluate/contest.h"
#include "evaluate/session.h"

namespace gemmsmith {

// The baselines of a problem against each other, without a candidate; the session is prepared for it.
Result<Outcome> RaceBaselines(const GpuTools& tools, ProblemSession& session, const ProblemMessage& problem,
                              const StepListener& on_step);

class Exchange {
 public:
  // All outlive Run(), and the tools outlive the exchange. The session is prepared for the problem in every layout of
  // the candidates.
  Exchange(const GpuTools& tools, ProblemSession& session, const ProblemMessage& problem,
           std::span<const CandidateMessage> candidates, const StepListener& on_step);
  ~Exchange();

  // Once. A Status only where the harness or the machine failed.
  Result<Judgements> Run();
  // Whether a candidate wrote to foreign memory. The session's memory and the workspaces were restored; other memory of
  // the GPU was not checked.
  bool touched_others() const { return touched_others_; }

 private:
  struct LoadedCandidate;

  Step StepOf(std::string name, const LoadedCandidate& candidate) const;
  CallBuffers BuffersOf(const LoadedCandidate& candidate) const;
  Status Load(LoadedCandidate& candidate);
  Status Test(size_t index);
  Status RunTests(LoadedCandidate& candidate);
  Status TestAsSource(LoadedCandidate& candidate);
  Status Put(const LoadedCandidate& candidate, const Inputs& inputs, Chaining chaining) const;
  Result<CandidateCall::Bound> Bind(LoadedCandidate& candidate, const CallAddresses& addresses) const;
  // Enters the outcome; notes it if the context is lost.
  void End(LoadedCandidate& candidate, OutcomeKind kind, std::string_view stage, std::string reason);
  void EndWrongly(LoadedCandidate& candidate);
  Status Restore();

  Status CaptureAll();
  Status Capture(LoadedCandidate& candidate);
  Status CaptureOnRing(LoadedCandidate& candidate);
  bool WantsChain(const LoadedCandidate& candidate, Clock plain) const;
  Result<double> EstimateCall(const LoadedCandidate& candidate, const PutCall& call);
  // Whether a screen need not time the call exactly, because it is far slower than the baselines.
  bool IsHopeless(double call_ns) const;
  Status TimeAll();
  Status RunRaces();
  std::vector<TimedCall> TimedCallsOf() const;
  Status LookAfterwards();
  Status LookAtTimedOutput(LoadedCandidate& candidate);
  // Describes damage that the race did to operands of any layout, guard bands or workspaces; empty if there is none.
  Result<std::string> LookForDamage();
  // Reads the counters of every candidate that passed, after all timing: a profiler may slow down other work.
  void ReadCounters();

  const GpuTools tools_;
  ProblemSession& session_;
  const ProblemMessage& problem_;
  const std::span<const CandidateMessage> candidates_;
  const StepListener& on_step_;
  Verifier verifier_;
  Random random_;  // what a source must not foresee: it does not follow from the problem's seed
  std::map<Layout, TestSetup> setups_;
  std::vector<const Baseline*> baselines_;
  std::vector<std::unique_ptr<LoadedCandidate>> passed_;  // those that passed their tests
  Judgements judgements_;
  bool touched_others_ = false;
};

}  // namespace gemmsmith
