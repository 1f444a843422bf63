// How long a plan will take: a small analytic model with constants fitted to measurements of an H200, for choosing what
// to measure, never for judging. docs/lab/cost_model.md says how well it ranks.
#pragma once

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// Device time of one call in a stream of plain launches, operands in L2 where they fit. Finite and positive for every
// plan and every problem without Problems(), legal or not. About 0.1 us a call.
double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device);

// Distinct bytes of A and B that the tiles of one wave ask L2 for, by the plan's raster; 0 where its family has none.
double WaveBytes(const Plan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
