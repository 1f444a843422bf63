// A candidate's machine code on the GPU and its calls: a plan's kernel by its launch, a source's kernels by its recipe.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "evaluate/isolate/judge.h"
#include "evaluate/time/ring.h"
#include "gpu/recipe_call.h"
#include "profile/readings.h"

namespace gemmsmith {

class CandidateCall {
 public:
  struct BoundPlan {
    const Launch* launch = nullptr;
    GemmParameters parameters;
  };
  // One call on given addresses.
  using Bound = std::variant<BoundPlan, RecipeCall>;

  // The message outlives it. An error is the driver's: the candidate cannot be launched.
  static Result<CandidateCall> Load(Gpu& gpu, const CandidateMessage& message);

  Result<Bound> Bind(const Gemm& gemm, const CallAddresses& addresses, void* workspace);
  // For the message's other shape: a plan's OtherShape, or half of a source's problem.
  Result<Bound> BindOther(const Gemm& gemm, const CallAddresses& addresses, void* workspace);
  // kProgrammatic for calls that IsChainable() only.
  Status Put(const Bound& bound, Chaining chaining = Chaining::kNone) const;
  bool IsChainable(const Bound& bound) const;
  // One for each kernel of a call, in order.
  Result<std::vector<KernelResidency>> Residencies(const Bound& bound) const;

 private:
  CandidateCall(Gpu& gpu, const CandidateMessage& message) : gpu_(&gpu), message_(&message) {}
  Result<Bound> BindPlan(const Launch& launch, const Gemm& gemm, const CallAddresses& addresses, void* workspace);
  Result<Bound> BindSource(const Recipe& recipe, const CallAddresses& addresses, void* workspace);

  Gpu* gpu_;
  const CandidateMessage* message_;
  Kernel kernel_;    // a plan's
  RecipeCode code_;  // a source's
};

}  // namespace gemmsmith
