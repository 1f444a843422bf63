#include "program/wgmma/staged_operand.h"

namespace gemmsmith {

StagedOperand OperandA(const WgmmaPlan& plan, const Gemm& gemm) {
  return {TensorMap::Matrix::kA,
          true,
          plan.step_k / 64,
          plan.tile_m,
          64,
          plan.sharing_n(),
          uint64_t(gemm.shape.k),
          uint64_t(gemm.shape.m),
          uint64_t(gemm.LeadingA())};
}

StagedOperand OperandB(const WgmmaPlan& plan, const Gemm& gemm) {
  const uint64_t n = uint64_t(gemm.shape.n), k = uint64_t(gemm.shape.k), leading = uint64_t(gemm.LeadingB());
  if (gemm.kind.layout.b == Order::kColumn)
    return {TensorMap::Matrix::kB, true, plan.step_k / 64, plan.tile_n, 64, plan.sharing_m(), k, n, leading};
  const int width = PanelWidth(plan.tile_n);
  return {TensorMap::Matrix::kB, false, plan.tile_n / width, plan.step_k, width, plan.sharing_m(), n, k, leading};
}

}  // namespace gemmsmith
