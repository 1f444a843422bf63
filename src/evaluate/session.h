// One problem on the GPU with everything that judging its candidates needs: inputs, references, outputs, tuned
// baselines. Costly to make, cheap to use again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/baseline/nvidia_baselines.h"
#include "evaluate/verify/correctness.h"

namespace gemmsmith {

class ProblemSession {
 public:
  // What a session may come to hold on the GPU.
  static uint64_t BytesFor(const Gemm& gemm);
  static Result<std::unique_ptr<ProblemSession>> Create(Gpu& gpu, HarnessKernels& harness, Cublas& cublas,
                                                        const DeviceMemory& baseline_workspace, const Gemm& gemm,
                                                        uint64_t seed);

  // Adds what this protocol needs and is not there yet.
  Status Prepare(Protocol protocol, const StepListener& on_step);

  const Gemm& gemm() const { return gemm_; }
  uint64_t seed() const { return seed_; }
  const GuardedMatrix& output() const { return output_; }
  const Inputs& normal() const { return inputs_.at({InputKind::kNormal, gemm_.kind.layout}); }
  // All but the workspace, which is the candidate's.
  TestBench BenchFor(Protocol protocol) const;
  // Those the protocol races against: the usable AutoTuning ones for the screen, every usable one for the short.
  std::vector<const Baseline*> RivalsFor(Protocol protocol) const;
  // Name and algorithm of every baseline made so far, usable or not.
  std::vector<std::pair<std::string, std::string>> BaselineAlgorithms() const;

 private:
  ProblemSession(Gpu& gpu, HarnessKernels& harness, Cublas& cublas, const DeviceMemory& baseline_workspace,
                 const Gemm& gemm, uint64_t seed);
  Status AddInputs(InputKind kind, const Layout& layout);
  Result<const GuardedMatrix*> AddOperand(char name, InputKind kind, const Gemm& gemm);
  Status AddBaseline(BaselineKind kind, const Layout& layout, const StepListener& on_step);

  Gpu& gpu_;
  HarnessKernels& harness_;
  const Gemm gemm_;
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
