// How long a plan will take: a small analytic model with constants fitted to measurements of an H200. It decides what to
// measure and never judges. docs/lab/cost_model.md says how well it ranks.
#pragma once

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// Device time of one call in a stream of plain launches, with operands in L2 where they fit. Finite and positive for
// every plan and every valid problem, legal or not. About 0.1 us a call.
double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
