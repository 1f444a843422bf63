// Plan -> CUDA source. The thin form is a few lines over the device headers; the standalone form is one self-contained
// .cu with every header inlined, the host-side launcher of the free-form ABI and no include of ours.
#pragma once

#include "program/launch.h"
#include "program/plan.h"
#include "program/source.h"

namespace gemmsmith {

// For a plan that Check() finds legal. The text depends on the problem's kind; on its shape where the plan fixes
// dimensions on purpose; and on how wide accesses may be (leading dimensions), how many panels a copy brings (whether
// extents are whole panels) and where the epilogue has room (resident stages).
Source Emit(const Plan& plan, const Gemm& gemm);
// For packed matrices: the launcher's signature knows no leading dimensions.
std::string EmitStandalone(const Plan& plan, const Gemm& gemm);

}  // namespace gemmsmith
