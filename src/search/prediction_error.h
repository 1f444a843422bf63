// How the errors of predicted times go together: an offset of each family, an offset of each value of each axis that
// neighbouring values share in part, and a rest that only near plans share.
#pragma once

#include "program/plan.h"

namespace gemmsmith {

// Of log(measured / predicted) of two plans, on one problem.
double ErrorCovariance(const Plan& first, const Plan& second);

}  // namespace gemmsmith
