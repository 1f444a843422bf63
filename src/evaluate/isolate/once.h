// A candidate's call in a process of its own, for tools that watch a whole process: Nsight Compute, compute-sanitizer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "evaluate/candidate_call.h"
#include "evaluate/isolate/messages.h"
#include "harness/harness_kernels.h"
#include "profile/counter_reader.h"

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

// The arguments with which this program does so, in a process that a tool watches: the verb `once`. Writes the calls to
// files in `folder`.
Result<std::vector<std::string>> ArgumentsForOnce(const std::filesystem::path& folder,
                                                  std::span<const SingleCall> calls, int gpu_ordinal, int times);
// Two calls for Nsight Compute; Unavailable for a source, as it is asked for plans only.
Result<OtherProcess> OtherProcessFor(const SingleCall& call, int gpu_ordinal, const std::filesystem::path& folder);
// The exit code of such a process where the calls failed, which it then says on standard error in one line.
inline constexpr int kCallFailedExitCode = 4;

}  // namespace gemmsmith
