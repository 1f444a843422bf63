// One problem on the GPU, in whatever layout, with everything that judging its candidates needs: inputs, references,
// outputs, tuned baselines. Costly to make, cheap to use again.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "evaluate/baseline/baseline_maker.h"
#include "evaluate/source_operands.h"
#include "evaluate/time/race_rules.h"
#include "evaluate/verify/correctness.h"

namespace gemmsmith {

class ProblemSession {
 public:
  // Upper bound of the GPU memory of a session.
  static uint64_t BytesFor(const ProblemMessage& problem);
  // The part of it that this session holds now.
  uint64_t HeldBytes() const;
  static Result<std::unique_ptr<ProblemSession>> Create(const BaselineTools& tools, const ProblemMessage& problem);

  // Whether the problem is this session's: the same one with the same truth, or, where A and B are packed, the same in
  // another layout.
  bool Serves(const ProblemMessage& problem) const;
  // Adds what judging such a problem needs and is not there yet.
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step);
  bool IsPrepared(const ProblemMessage& problem) const {
    return Serves(problem) && inputs_.contains({InputKind::kNormal, problem.gemm.kind.layout});
  }
  // The timed inputs in all layouts that were prepared.
  std::vector<const Inputs*> NormalInputs() const;
  // Inputs, references and outputs as new, after a candidate wrote where it must not.
  Status Restore(const StepListener& on_step);

  const GuardedMatrix& output() const { return output_; }
  // All but what is the candidate's: its workspace and the late inputs of chains.
  TestSetup TestSetupFor(const ProblemMessage& problem, const StepListener& on_step) const;
  // Both are made when they are first asked for, and after Restore().
  Result<const LateInputs*> LateInputsFor(const Layout& layout);
  Result<SourceOperands*> OperandsForSources(const Layout& layout, const Shape& half_shape);
  // The usable baselines of the problem.
  std::vector<const Baseline*> BaselinesFor(const ProblemMessage& problem) const;
  // For after a race, with the outcomes that it made and the faults of BaselinesFor(). A baseline with a fault, or
  // that left something in a workspace of its own, is withdrawn from them and does not race again; its description says
  // why.
  Status WithdrawUntidyBaselines(const ProblemMessage& problem, std::span<const std::string> faults,
                                 std::span<Outcome* const> outcomes);
  // Name and algorithm of every baseline that the problem asks for, usable or not.
  std::vector<std::pair<std::string, std::string>> BaselineAlgorithms(const ProblemMessage& problem) const;
  // Null unless the session races on kDeviceCold.
  Ring* ring() { return ring_ ? &*ring_ : nullptr; }

 private:
  ProblemSession(const BaselineTools& tools, const ProblemMessage& problem);
  Status AddInputs(InputKind kind, const Layout& layout, const StepListener& on_step);
  Result<Reference> MakeTruth(InputKind kind, const Gemm& gemm, const Inputs& inputs, const StepListener& on_step);
  // Announces progress while the CPU computes.
  static BlockListener BlocksAs(const StepListener& on_step);
  Result<const GuardedMatrix*> AddOperand(char name, InputKind kind, const Gemm& gemm);
  Status AddBaselines(const ProblemMessage& problem, const StepListener& on_step);
  Status AddBaseline(const BaselineId& id, const StepListener& on_step);
  Status AddGraphs(Baseline& baseline, const ProblemMessage& problem);
  Status AddToRing(const Layout& layout);

  Gpu& gpu_;
  HarnessKernels& harness_;
  const Gemm gemm_;  // where A and B are packed, in a layout that means nothing
  const uint64_t seed_;
  const bool certify_, brief_, on_ring_;
  Verifier verifier_;
  BaselineMaker maker_;
  GuardedMatrix output_, baseline_output_;
  std::map<std::tuple<char, InputKind, Order>, GuardedMatrix> operands_;
  std::map<InputKind, Reference> references_;
  std::map<std::pair<InputKind, Layout>, Inputs> inputs_;
  std::optional<Ring> ring_;
  std::map<Layout, std::unique_ptr<LateInputs>> late_;
  std::map<Layout, std::unique_ptr<SourceOperands>> for_sources_;
  std::map<BaselineId, Baseline> baselines_;
};

}  // namespace gemmsmith
