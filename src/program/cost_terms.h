// Terms of the cost model that both families use.
#pragma once

#include <cmath>

#include "device/geometry.h"
#include "problem/device_model.h"
#include "problem/gemm.h"

namespace gemmsmith::cost {

inline double Ceil(double a, double b) { return std::ceil(a / b); }

// A, B and C, counted once. Operands that outgrow L2 come from memory in every call.
inline double OperandBytes(const Shape& shape) {
  return 2 * (double(shape.m) * shape.k + double(shape.n) * shape.k + double(shape.m) * shape.n);
}

// The cost of a trigger in a launch that nothing chains to. Not measured: it only orders plans. By Trigger.
inline constexpr double kTriggerNs[] = {0, 15, 12, 10, 8};

}  // namespace gemmsmith::cost
