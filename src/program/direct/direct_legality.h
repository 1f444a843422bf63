#pragma once

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/direct/direct_plan.h"
#include "program/reasons.h"

namespace gemmsmith {

void CheckDirect(const DirectPlan& plan, const Gemm& gemm, const Device& device, Reasons& reasons);
void AdviseDirect(const DirectPlan& plan, const Gemm& gemm, Reasons& reasons);

}  // namespace gemmsmith
