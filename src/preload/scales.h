// Types, sums and scales of a call: what both interfaces of cuBLAS say in the same words.
#pragma once

#include <library_types.h>

#include <optional>

#include "preload/call.h"

namespace gemmsmith {

enum class Sums : uint8_t { kF32, kF16, kOther };
inline Sums SumsOf(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return Sums::kF32;
    case CUBLAS_COMPUTE_16F:
      return Sums::kF16;
    default:
      return Sums::kOther;
  }
}

// Sets the types of the problem. False: not half precision.
inline bool SetTypes(cudaDataType a, cudaDataType b, cudaDataType d, gemmsmith_problem& problem) {
  if (a != b || (a != CUDA_R_16F && a != CUDA_R_16BF) || (d != a && d != CUDA_R_32F)) return false;
  problem.ab_type = a == CUDA_R_16F ? GEMMSMITH_F16 : GEMMSMITH_BF16;
  problem.cd_type = d == CUDA_R_32F ? GEMMSMITH_F32 : problem.ab_type;
  return true;
}

// A scale on the host: f16 with f16 sums, else f32.
inline float ScaleAt(const void* scale, Sums sums) {
  if (sums != Sums::kF16) return *static_cast<const float*>(scale);
  __extension__ const _Float16 half = *static_cast<const _Float16*>(scale);
  return float(half);
}

// The call, once problem and operands are filled in.
inline std::optional<Call> Checked(gemmsmith_problem problem, Call call) {
  problem.own_only = 1;
  problem.alpha_is_one = call.operands.alpha == 1;
  problem.beta_is_zero = call.operands.beta == 0;
  problem.pointer_alignment = AlignmentOf(call.operands);
  const Result<Request> request = MakeRequest(problem);
  if (!request.ok() || request->IsEmpty()) return std::nullopt;
  call.request = *request;
  return call;
}

}  // namespace gemmsmith
