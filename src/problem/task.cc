#include "problem/task.h"

#include <algorithm>

namespace gemmsmith {

std::string_view Name(ScalarType type) { return type == ScalarType::kF16 ? "f16" : "bf16"; }

namespace {

double Floor(const Task& task, const Device& device, double tbs) {
  // One launch with a load, a product and a store behind each other.
  constexpr double kLaunchNs = 1000;
  double floor = kLaunchNs;
  if (device.peak_half_tflops > 0) floor = std::max(floor, task.flops / device.peak_half_tflops * 1e-3);
  if (tbs > 0) floor = std::max(floor, task.bytes / tbs * 1e-3);
  return floor;
}

}  // namespace

double Task::FloorNs(const Device& device) const {
  const bool in_l2 = bytes <= device.l2_resident_mb * 1e6;
  return Floor(*this, device, in_l2 ? device.l2_tbs : device.memory_tbs);
}

double Task::ColdFloorNs(const Device& device) const {
  // memory_tbs is the rate of a copy. Reading alone, 118 MB a kernel, came to 4.55 TB/s on an H200 that copies at 4.3.
  constexpr double kReadOverCopy = 4.55 / 4.3;
  return Floor(*this, device, device.memory_tbs * kReadOverCopy);
}

}  // namespace gemmsmith
