#pragma once

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/direct/direct_plan.h"

namespace gemmsmith {

double DirectTimeNs(const DirectPlan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
