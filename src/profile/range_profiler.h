// Hardware counters of this process's own kernels, through CUPTI's range profiler.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "gpu/gpu.h"
#include "profile/metric_schedule.h"

namespace gemmsmith {

// Everything but Read() costs no GPU time. Kernels of the context are disturbed only between Enable() and Disable().
class RangeProfiler {
 public:
  // Asks the driver whether this process may read counters. Unavailable, with the reason, where it may not. The GPU
  // outlives it and is current on the calling thread. Each kernel that Read() may find takes memory.
  static Result<std::unique_ptr<RangeProfiler>> Create(const Gpu& gpu, std::span<const std::string_view> metrics,
                                                       size_t most_kernels = 1);
  ~RangeProfiler();

  const MetricSchedule& schedule() const { return *schedule_; }
  Status Enable();
  void Disable();
  // While enabled. Calls `put` once for each pass. `put` puts kernels on the GPU's stream, at most as many as there is
  // memory for, and does the same work every time. Returns the readings of each kernel, in order of launch.
  Result<std::vector<KernelReadings>> Read(const std::function<Status()>& put);

 private:
  struct Session;
  RangeProfiler(CUcontext context, std::unique_ptr<MetricSchedule> schedule, size_t most_kernels);
  Status CollectPasses(const std::function<Status()>& put);

  CUcontext context_;
  std::unique_ptr<MetricSchedule> schedule_;
  size_t most_kernels_;
  std::unique_ptr<Session> session_;  // while enabled
};

}  // namespace gemmsmith
