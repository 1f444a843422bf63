#include "program/legality.h"

#include "program/family.h"

namespace gemmsmith {

namespace {

void CheckNumbers(const GemmKind& kind, Reasons& reasons) {
  if (kind.accumulation == Accumulation::kF16 && kind.type != ScalarType::kF16)
    reasons.Add("matrix instructions accumulate in f16 where the type is f16, not {}", Name(kind.type));
}

void CheckRetired(const Plan& plan, const Family& family, Reasons& reasons) {
  for (size_t i = 0; i < family.axes.size(); ++i)
    if (const Axis& axis = family.axes[i]; !axis.IsLive(plan.values[i]))
      reasons.Add("{}={} is retired (docs/plan.md)", axis.name, axis.Print(plan.values[i]));
}

void CheckAll(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) {
  const Family& family = GetFamily(plan.family);
  CheckNumbers(gemm.kind, reasons);
  CheckRetired(plan, family, reasons);
  family.Check(plan, gemm, device, reasons);
}

}  // namespace

std::vector<std::string> Check(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (std::vector<std::string> reasons = WhyInvalid(gemm); !reasons.empty()) return reasons;
  Reasons reasons(Reasons::Mode::kWords);
  CheckAll(plan, gemm, device, reasons);
  return std::move(reasons).words();
}

bool IsServed(const Gemm& gemm) {
  return gemm.kind.layout.a == Order::kRow || (gemm.AlignmentA() == 8 && gemm.AlignmentB() == 8);
}

bool HasRetiredValues(const Plan& plan) {
  Reasons reasons(Reasons::Mode::kCountOnly);
  CheckRetired(plan, GetFamily(plan.family), reasons);
  return reasons.count() > 0;
}

bool IsLegal(const Plan& plan, const Gemm& gemm, const Device& device) {
  Reasons reasons(Reasons::Mode::kCountOnly);
  CheckAll(plan, gemm, device, reasons);
  return reasons.count() == 0;
}

std::vector<std::string> Advise(const Plan& plan, const Gemm& gemm, const Device& device) {
  Reasons reasons(Reasons::Mode::kWords);
  GetFamily(plan.family).Advise(plan, gemm, device, reasons);
  return std::move(reasons).words();
}

int CountReasons(const Plan& plan, const Gemm& gemm, const Device& device) {
  Reasons reasons(Reasons::Mode::kCountOnly);
  CheckAll(plan, gemm, device, reasons);
  GetFamily(plan.family).Advise(plan, gemm, device, reasons);
  return reasons.count();
}

bool IsWorthTrying(const Plan& plan, const Gemm& gemm, const Device& device) {
  return CountReasons(plan, gemm, device) == 0;
}

}  // namespace gemmsmith
