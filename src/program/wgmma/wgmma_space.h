// Parts of RankedPlans() that know the wgmma family's axes.
#pragma once

#include <vector>

#include "program/family.h"

namespace gemmsmith {

// Family::MayBecomeWorthTrying(), by the index of the axis that was chosen last.
bool MayBecomeWorthTryingWgmma(const Plan& plan, size_t last_axis, const Gemm& gemm, const Device& device);
// Groups of eight clusters suit most problems; the better store and the better epilogue price a geometry.
std::vector<PricedForm> PricedFormsOfWgmma(const Plan& geometry);

}  // namespace gemmsmith
