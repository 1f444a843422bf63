// One problem on the GPU, in whatever layout, with everything that judging its candidates needs: inputs, references,
// outputs, tuned baselines. Costly to make, cheap to use again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/baseline/nvidia_baselines.h"
#include "evaluate/verify/correctness.h"

namespace gemmsmith {

// How long the batches of a protocol are.
Batch BatchFor(Protocol protocol);

class ProblemSession {
 public:
  // What a session may come to hold on the GPU.
  static uint64_t BytesFor(const Gemm& gemm);
  static Result<std::unique_ptr<ProblemSession>> Create(Gpu& gpu, HarnessKernels& harness, Cublas& cublas,
                                                        const DeviceMemory& baseline_workspace, const Gemm& gemm,
                                                        uint64_t seed);

  // Whether the problem is this session's: the same one, or, where A and B are packed, the same in another layout.
  bool Serves(const Gemm& gemm, uint64_t seed) const;
  // Adds what judging such a problem needs and is not there yet.
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step);
  // Inputs, references and outputs as new, after a candidate wrote where it must not.
  Status Restore();

  const GuardedMatrix& output() const { return output_; }
  // All but what is the candidate's: its workspace and whether it is chainable.
  TestBench BenchFor(const ProblemMessage& problem) const;
  // Those the problem is raced against: the usable AutoTuning ones, for the short protocol every usable one.
  std::vector<const Baseline*> RivalsFor(const ProblemMessage& problem) const;
  // Name and algorithm of every baseline made so far, usable or not.
  std::vector<std::pair<std::string, std::string>> BaselineAlgorithms() const;

 private:
  ProblemSession(Gpu& gpu, HarnessKernels& harness, Cublas& cublas, const DeviceMemory& baseline_workspace,
                 const Gemm& gemm, uint64_t seed);
  Status AddInputs(InputKind kind, const Layout& layout);
  Result<const GuardedMatrix*> AddOperand(char name, InputKind kind, const Gemm& gemm);
  Status AddBaselines(Protocol protocol, const StepListener& on_step);
  Status AddBaseline(BaselineKind kind, const Layout& layout, const StepListener& on_step);

  Gpu& gpu_;
  HarnessKernels& harness_;
  const Gemm gemm_;  // where A and B are packed, in a layout that means nothing
  const uint64_t seed_;
  Verifier verifier_;
  NvidiaBaselines library_;
  GuardedMatrix output_, baseline_output_;
  std::map<std::tuple<char, InputKind, Order>, GuardedMatrix> operands_;
  std::map<InputKind, Reference> references_;
  std::map<std::pair<InputKind, Layout>, Inputs> inputs_;
  std::map<std::pair<BaselineKind, Layout>, Baseline> baselines_;
};

}  // namespace gemmsmith
