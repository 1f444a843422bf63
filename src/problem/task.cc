#include "problem/task.h"

#include <algorithm>

namespace gemmsmith {

std::string_view Name(ScalarType type) { return type == ScalarType::kF16 ? "f16" : "bf16"; }

double Task::FloorNs(const Device& device) const {
  // One launch with a load, a product and a store behind each other.
  constexpr double kLaunchNs = 1000;
  double floor = kLaunchNs;
  const bool in_l2 = bytes <= device.l2_resident_mb * 1e6;
  const double tbs = in_l2 ? device.l2_tbs : device.memory_tbs;
  if (device.peak_half_tflops > 0) floor = std::max(floor, flops / device.peak_half_tflops * 1e-3);
  if (tbs > 0) floor = std::max(floor, bytes / tbs * 1e-3);
  return floor;
}

}  // namespace gemmsmith
