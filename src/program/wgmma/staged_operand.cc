#include "program/wgmma/staged_operand.h"

namespace gemmsmith {

namespace {

// `tile` rows of A or columns of B, of `extent` of them in the matrix. Lines are contiguous along k, or across it.
StagedOperand Staged(TensorMap::Matrix matrix, Order order, Order along_k, int tile, int step_k, int peers, int extent,
                     int k, int leading) {
  if (order == along_k)
    return {matrix, true, step_k / 64, tile, 64, peers, uint64_t(k), uint64_t(extent), uint64_t(leading)};
  const int width = PanelWidth(tile);
  return {matrix, false, tile / width, step_k, width, peers, uint64_t(extent), uint64_t(k), uint64_t(leading)};
}

}  // namespace

StagedOperand OperandA(const WgmmaPlan& plan, const Gemm& gemm) {
  return Staged(TensorMap::Matrix::kA, gemm.kind.layout.a, Order::kRow, plan.tile_m, plan.step_k, plan.sharing_n(),
                gemm.shape.m, gemm.shape.k, gemm.LeadingA());
}

StagedOperand OperandB(const WgmmaPlan& plan, const Gemm& gemm) {
  return Staged(TensorMap::Matrix::kB, gemm.kind.layout.b, Order::kColumn, plan.tile_n, plan.step_k, plan.sharing_m(),
                gemm.shape.n, gemm.shape.k, gemm.LeadingB());
}

}  // namespace gemmsmith
