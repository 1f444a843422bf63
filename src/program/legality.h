// Whether a plan can run a problem on a device, and whether it is worth trying.
#pragma once

#include <string>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// Every reason why the plan cannot run, cannot be right, or is retired: one line each ("64 warps a CTA, at most 16").
// Empty: legal.
std::vector<std::string> Check(const Plan& plan, const Gemm& gemm, const Device& device);
bool IsLegal(const Plan& plan, const Gemm& gemm, const Device& device);
// Whether any family reads A and B stored so. A column-major A is for TMA alone, which asks for aligned lines.
bool IsServed(const Gemm& gemm);
// Records hold such plans; nothing emits or launches them.
bool HasRetiredValues(const Plan& plan);

// Every reason why a legal plan is not worth a measurement.
std::vector<std::string> Advise(const Plan& plan, const Gemm& gemm, const Device& device);
// Legal, and no advice against it: what searches choose from.
bool IsWorthTrying(const Plan& plan, const Gemm& gemm, const Device& device);

// The reasons of Check() and Advise(), counted without words; cheap enough for millions.
int CountReasons(const Plan& plan, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
