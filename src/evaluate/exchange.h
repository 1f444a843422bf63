// One list of candidates for a prepared problem: each is tested, those that pass are timed in one race.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "evaluate/contest.h"
#include "evaluate/session.h"

namespace gemmsmith {

// The baselines of a problem against each other, without a candidate; the session is prepared for it.
Result<Outcome> RaceBaselines(const Workshop& workshop, ProblemSession& session, const ProblemMessage& problem,
                              const StepListener& on_step);

class Exchange {
 public:
  // All outlive it; the session is prepared for the problem in every layout of the candidates.
  Exchange(const Workshop& workshop, ProblemSession& session, const ProblemMessage& problem,
           std::span<const CandidateMessage> candidates, const StepListener& on_step);
  ~Exchange();

  // Once. A Status only where the harness or the machine failed.
  Result<Judgements> Run();
  // Whether a candidate wrote where it must not. What belongs to this session and the workspaces were made anew; what
  // else is on the GPU nobody has looked at.
  bool touched_others() const { return touched_others_; }

 private:
  struct Contestant;

  Step StepOf(std::string name, const Contestant& contestant) const;
  Workplace WorkplaceOf(const Contestant& contestant) const;
  Status Load(Contestant& contestant);
  Status Test(size_t candidate);
  Status Put(const Contestant& contestant, const Inputs& inputs, Chaining chaining);
  Result<GemmParameters> ParametersFor(const Contestant& contestant, const CallAddresses& addresses) const;
  // Enters the outcome; notes it if the context is lost.
  void End(Contestant& contestant, OutcomeKind kind, std::string_view stage, std::string reason);
  void EndWrongly(Contestant& contestant);
  Status Restore();

  Status CaptureAll();
  Status Capture(Contestant& contestant);
  Status CaptureCold(Contestant& contestant);
  Result<double> EstimateCall(const Contestant& contestant, const PutCall& call);
  // So slow that a screen need not know how slow.
  bool IsHopeless(double call_ns) const;
  Status TimeAll();
  Status RunRaces();
  std::vector<Racer> RacersOf() const;
  Status LookAfterwards();
  Status LookAtTimedOutput(Contestant& contestant);
  // What the race did to operands of any layout, guard bands and workspaces; nothing, as a rule.
  Result<std::string> LookForDamage();
  // Of everybody that passed, when nothing is timed any more: a profiler may slow down what runs beside it.
  void ReadCounters();

  const Workshop workshop_;
  ProblemSession& session_;
  const ProblemMessage& problem_;
  const std::span<const CandidateMessage> candidates_;
  const StepListener& on_step_;
  Verifier verifier_;
  std::map<Layout, TestBench> benches_;
  std::vector<const Baseline*> rivals_;
  std::vector<std::unique_ptr<Contestant>> contestants_;  // those that passed their tests
  Judgements judgements_;
  bool touched_others_ = false;
};

}  // namespace gemmsmith
