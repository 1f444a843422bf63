#include "report/padding.h"

#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {
namespace {

// A warp of `direct` loads its K by so many.
constexpr int kDirectStepK = 32;

int Whole(int extent, int unit) { return CeilDivide(extent, unit) * unit; }

void Add(RaggedRow& row, const WinningPlan& winner) {
  const Shape& shape = winner.gemm.shape;
  const ComputedExtent computed = ComputedBy(winner.plan, shape);
  ++row.winners;
  row.ragged_m += computed.m != shape.m;
  row.ragged_n += computed.n != shape.n;
  row.ragged_k += computed.k != shape.k;
  if (!IsRagged(winner.plan, shape)) return;
  ++row.ragged;
  row.padding.push_back(PaddingRatio(winner.plan, shape));
}

}  // namespace

ComputedExtent ComputedBy(const Plan& plan, const Shape& shape) {
  if (plan.family == FamilyId::kDirect) {
    const DirectPlan direct(plan);
    return {Whole(shape.m, direct.tile_m), Whole(shape.n, direct.tile_n), Whole(shape.k, kDirectStepK)};
  }
  const WgmmaPlan wgmma(plan);
  return {wgmma.TilesM(shape) * wgmma.tile_m, wgmma.TilesN(shape) * wgmma.tile_n, Whole(shape.k, wgmma.step_k)};
}

bool IsRagged(const Plan& plan, const Shape& shape) {
  const ComputedExtent computed = ComputedBy(plan, shape);
  return computed.m != shape.m || computed.n != shape.n || computed.k != shape.k;
}

double PaddingRatio(const Plan& plan, const Shape& shape) {
  const ComputedExtent computed = ComputedBy(plan, shape);
  return double(computed.m) * computed.n * computed.k / shape.Volume();
}

std::vector<RaggedRow> RaggedRows(const std::vector<WinningPlan>& winners) {
  if (winners.empty()) return {};
  RaggedRow all{.group = kAllGroups};
  std::map<Label, RaggedRow> classes;
  for (const WinningPlan& winner : winners) {
    const Label group = ClassGroup(winner.gemm.shape);
    classes[group].group = group.text;
    Add(all, winner);
    Add(classes[group], winner);
  }
  std::vector<RaggedRow> rows = {std::move(all)};
  for (auto& [group, row] : classes) rows.push_back(std::move(row));
  return rows;
}

}  // namespace gemmsmith
