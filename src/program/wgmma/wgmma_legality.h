#pragma once

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/reasons.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

void CheckWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons);
// The plan itself as Canonical() knows it is the family's concern.
void AdviseWgmma(const WgmmaPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons);

}  // namespace gemmsmith
