// Clocks, power and throttle reasons through NVML, opened at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "gpu/clock_limits.h"

namespace gemmsmith {

struct GpuCondition {
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  double power_watts = 0;
  int temperature_c = 0;
  ClockLimits limits;
  int other_processes = 0;  // compute processes on this GPU beside ours
};

// Counts the processes with a context on the GPU other than `self`, its ancestors and its descendants. NVML may report
// ids of another pid namespace. If none of ours is listed, one unknown id is taken to be ours.
int CountForeignProcesses(std::span<const int> pids, int self);

// From the bits of nvmlDeviceGetCurrentClocksEventReasons.
ClockLimits ClockLimitsOf(unsigned long long reasons);

class Nvml {
 public:
  // Unavailable where the library does not open or knows no such GPU.
  static Result<std::unique_ptr<Nvml>> Open(const std::string& gpu_uuid);
  ~Nvml();
  // A value that the GPU does not report (a partition, say) stays 0 or empty.
  Result<GpuCondition> Read() const;
  // The GPU's energy counter since the driver was loaded. It advances every 20 to 100 ms. Unavailable if the GPU has
  // none.
  Result<double> EnergyJoules() const;
  Result<int> SmClockMhz() const;
  std::string DriverRelease() const;  // "580.159.04"

 private:
  struct State;
  explicit Nvml(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
