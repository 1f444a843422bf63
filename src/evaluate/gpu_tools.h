// The GPU and the tools that a judge shares between problems.
#pragma once

#include <chrono>

#include "gpu/nvml.h"
#include "harness/harness_kernels.h"
#include "harness/workspaces.h"
#include "profile/counter_reader.h"

namespace gemmsmith {

// `nvml` may be null: times are then taken without clocks and power.
struct GpuTools {
  Gpu& gpu;
  HarnessKernels& harness;
  Workspaces& workspaces;
  const Nvml* nvml;
  std::chrono::steady_clock::time_point& last_race;  // when it ended
  CounterReader& counters;
};

}  // namespace gemmsmith
