// Hardware counters of this process's own kernels, through CUPTI's range profiler. The library is opened at run time:
// a program on a machine without it starts, and says what is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "gpu/gpu.h"

namespace gemmsmith {

// How a chip collects a set of metrics. Made without a GPU.
class MetricSchedule {
 public:
  // `chip` as CUPTI calls it, "GH100"; metrics that it does not have are left out and kept by name. `availability` is
  // what the driver says of the chip's counters, empty: all are there.
  static Result<std::unique_ptr<MetricSchedule>> Make(const std::string& chip,
                                                      std::span<const std::string_view> metrics,
                                                      std::span<const uint8_t> availability);
  ~MetricSchedule();

  const std::vector<std::string>& metrics() const;
  const std::vector<std::string>& unknown() const;
  size_t passes() const;  // as often a kernel must run

 private:
  friend class RangeProfiler;
  struct State;
  explicit MetricSchedule(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The values of a schedule's metrics, in their order; NaN where there is none.
using KernelReadings = std::vector<double>;

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
  // While enabled. Calls `put`, which puts kernels on the GPU's stream, at most as many as there is memory for, once
  // for each pass; every call must do the same work. What was read of each kernel, in the order of their launches.
  Result<std::vector<KernelReadings>> Read(const std::function<Status()>& put);

 private:
  struct Session;
  RangeProfiler(CUcontext context, std::unique_ptr<MetricSchedule> schedule, size_t most_kernels);
  Status CollectPasses(const std::function<Status()>& put);
  Result<KernelReadings> Evaluate(size_t kernel);

  CUcontext context_;
  std::unique_ptr<MetricSchedule> schedule_;
  size_t most_kernels_;
  std::unique_ptr<Session> session_;  // while enabled
};

}  // namespace gemmsmith
