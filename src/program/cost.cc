#include "program/cost.h"

#include "program/family.h"

namespace gemmsmith {

double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) {
  return GetFamily(plan.family).PredictTimeNs(plan, gemm, device);
}

}  // namespace gemmsmith
