#include "program/legality.h"

#include "base/check.h"
#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

void CheckNumbers(const GemmKind& kind, Reasons& reasons) {
  if (kind.accumulation == Accumulation::kF16 && kind.type != ScalarType::kF16)
    reasons.Add("matrix instructions accumulate in f16 where the type is f16, not {}", Name(kind.type));
}

void CheckFamily(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  CheckNumbers(gemm.kind, reasons);
  switch (plan.family) {
    case FamilyId::kDirect:
      return CheckDirect(DirectPlan(plan), gemm, device, reasons);
    case FamilyId::kWgmma:
      return CheckWgmma(WgmmaPlan(plan), gemm, device, reasons);
  }
  GEMMSMITH_CHECK(false, "family {}", int(plan.family));
}

}  // namespace

std::vector<std::string> Check(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (std::vector<std::string> problems = Problems(gemm); !problems.empty()) return problems;
  Reasons reasons(Reasons::Mode::kWords);
  CheckFamily(plan, gemm, device, reasons);
  return std::move(reasons).words();
}

int CountReasons(const Plan& plan, const Gemm& gemm, const Device& device) {
  Reasons reasons(Reasons::Mode::kCountOnly);
  CheckFamily(plan, gemm, device, reasons);
  return reasons.count();
}

bool IsLegal(const Plan& plan, const Gemm& gemm, const Device& device) { return CountReasons(plan, gemm, device) == 0; }

}  // namespace gemmsmith
