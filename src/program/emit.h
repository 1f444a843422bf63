// Plan -> CUDA source. The thin form is a few lines over the device headers; the standalone form is one self-contained
// .cu with every header inlined, the host-side launcher of the free-form ABI and no include of ours.
#pragma once

#include "program/launch.h"
#include "program/plan.h"
#include "program/source.h"

namespace gemmsmith {

// For a plan that Check() finds legal. The text depends on the problem's kind, and on its shape only where the plan
// fixes dimensions on purpose.
Source Emit(const Plan& plan, const Gemm& gemm);
std::string EmitStandalone(const Plan& plan, const Gemm& gemm);

}  // namespace gemmsmith
