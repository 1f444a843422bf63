#include "evaluate/candidate_call.h"

namespace gemmsmith {

namespace {

CUdeviceptr DeviceAddress(const void* pointer) { return CUdeviceptr(reinterpret_cast<uintptr_t>(pointer)); }

}  // namespace

Result<CandidateCall> CandidateCall::Load(Gpu& gpu, const CandidateMessage& message) {
  CandidateCall call(gpu, message);
  if (message.source) {
    ASSIGN_OR_RETURN(call.code_, RecipeCode::Load(message.source->cubins));
  } else {
    ASSIGN_OR_RETURN(call.kernel_, gpu.Load(message.cubin, message.entry, message.launch.smem_bytes));
  }
  return call;
}

Result<CandidateCall::Bound> CandidateCall::BindPlan(const Launch& launch, const Gemm& gemm,
                                                     const CallAddresses& addresses, void* workspace) {
  BoundPlan bound{&launch, {}};
  const GemmArguments arguments = ArgumentsFor(gemm, addresses.a, addresses.b, addresses.c, workspace);
  ASSIGN_OR_RETURN(bound.parameters, gpu_->ParametersFor(launch, arguments));
  return Bound(bound);
}

Result<CandidateCall::Bound> CandidateCall::BindSource(const Recipe& recipe, const CallAddresses& addresses,
                                                       void* workspace) {
  ASSIGN_OR_RETURN(RecipeCall call, code_.Bind(recipe, {DeviceAddress(addresses.a), DeviceAddress(addresses.b),
                                                        DeviceAddress(addresses.c), DeviceAddress(workspace)}));
  return Bound(std::move(call));
}

Result<CandidateCall::Bound> CandidateCall::Bind(const Gemm& gemm, const CallAddresses& addresses, void* workspace) {
  if (message_->source) return BindSource(message_->source->recipe, addresses, workspace);
  return BindPlan(message_->launch, gemm, addresses, workspace);
}

Result<CandidateCall::Bound> CandidateCall::BindOther(const Gemm& gemm, const CallAddresses& addresses,
                                                      void* workspace) {
  if (message_->source) return BindSource(message_->source->half_recipe.value(), addresses, workspace);
  return BindPlan(message_->other.value().launch, gemm, addresses, workspace);
}

Status CandidateCall::Put(const Bound& bound, Chaining chaining) const {
  if (const auto* const recipe = std::get_if<RecipeCall>(&bound)) return recipe->Put(*gpu_, chaining);
  const auto& plan = std::get<BoundPlan>(bound);
  return gpu_->StartGemm(kernel_, *plan.launch, plan.parameters, chaining);
}

bool CandidateCall::IsChainable(const Bound& bound) const {
  if (const auto* const recipe = std::get_if<RecipeCall>(&bound)) return recipe->is_chainable();
  return std::get<BoundPlan>(bound).launch->chainable;
}

Result<std::vector<KernelResidency>> CandidateCall::Residencies(const Bound& bound) const {
  std::vector<KernelResidency> residencies;
  if (const auto* const recipe = std::get_if<RecipeCall>(&bound)) {
    for (const auto& [function, launch] : recipe->Kernels()) {
      ASSIGN_OR_RETURN(const Residency residency, gpu_->ResidencyOf(function, launch));
      residencies.push_back({launch, residency});
    }
    return residencies;
  }
  const Launch& launch = *std::get<BoundPlan>(bound).launch;
  ASSIGN_OR_RETURN(const Residency residency, gpu_->ResidencyOf(kernel_, launch));
  residencies.push_back({launch, residency});
  return residencies;
}

}  // namespace gemmsmith
