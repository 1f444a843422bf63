#include "report/padding.h"

#include "program/family.h"

namespace gemmsmith {
namespace {

void Add(RaggedRow& row, const WinningPlan& winner) {
  const Shape& shape = winner.gemm.shape;
  const ComputedExtent computed = GetFamily(winner.plan.family).ComputedBy(winner.plan, shape);
  ++row.winners;
  row.ragged_m += computed.m != shape.m;
  row.ragged_n += computed.n != shape.n;
  row.ragged_k += computed.k != shape.k;
  if (!IsRagged(winner.plan, shape)) return;
  ++row.ragged;
  row.padding.push_back(PaddingRatio(winner.plan, shape));
}

}  // namespace

bool IsRagged(const Plan& plan, const Shape& shape) {
  const ComputedExtent computed = GetFamily(plan.family).ComputedBy(plan, shape);
  return computed.m != shape.m || computed.n != shape.n || computed.k != shape.k;
}

double PaddingRatio(const Plan& plan, const Shape& shape) {
  const ComputedExtent computed = GetFamily(plan.family).ComputedBy(plan, shape);
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
