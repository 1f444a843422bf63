// A candidate's call in a process of its own, for tools that watch a whole process: Nsight Compute, compute-sanitizer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "evaluate/candidate_call.h"
#include "evaluate/isolate/messages.h"
#include "evaluate/verify/harness_kernels.h"

namespace gemmsmith {

// A candidate with its problem's normal inputs on a GPU. Every operand is an allocation of exactly its bytes, without
// canaries around it, so that a checker of accesses sees where it ends.
class BoundCall {
 public:
  // `gpu` and `call` outlive it.
  static Result<std::unique_ptr<BoundCall>> Create(Gpu& gpu, HarnessKernels& harness, const SingleCall& call);

  const SingleCall& call() const { return call_; }
  Result<std::vector<KernelResidency>> Residencies() const { return code_->Residencies(bound_); }
  // One call, without waiting.
  Status Put() const { return code_->Put(bound_); }

 private:
  struct Operand {
    DeviceMemory memory;
    MatrixView view;
  };
  BoundCall(Gpu& gpu, const SingleCall& call) : gpu_(gpu), call_(call) {}
  Result<Operand> MakeOperand(const gemmsmith::Operand& operand, bool lines_are_rows) const;
  Status Fill(HarnessKernels& harness);

  Gpu& gpu_;
  const SingleCall& call_;
  Operand a_, b_, c_;
  DeviceMemory workspace_;
  std::optional<CandidateCall> code_;
  CandidateCall::Bound bound_;
};

// Calls each candidate `times` times and waits for the end, before the next one is bound. Returns the driver's error of
// the first failed call; empty if all succeeded.
Result<std::string> RunOnce(int gpu_ordinal, std::span<const SingleCall> calls, int times);

// The command that does so with files of an encoded SingleCall each, for a tool to watch: the verb `once` of `program`.
std::vector<std::string> CommandForOnce(const std::string& program, std::span<const std::filesystem::path> files,
                                        int gpu_ordinal, int times);
// Its exit code where the calls failed, which it then says on standard error in one line.
inline constexpr int kCallFailedExitCode = 4;

}  // namespace gemmsmith
