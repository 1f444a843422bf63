// Enters the readings of a profiler and of the driver into a kernel's counters.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/gpu.h"
#include "outcome/counters.h"
#include "profile/metric_schedule.h"

namespace gemmsmith {

// The names of the counters' metrics, in the order of the counters that have one.
std::vector<std::string_view> CounterMetrics();
using MetricValues = std::map<std::string, double>;  // by name

struct KernelResidency {
  Launch launch;
  Residency residency;
};
// Registers, shared memory, occupancy and waves, which no profiler is needed for.
void AddResidency(const KernelResidency& kernel, Counters& counters);
// Ignores other metrics and values that are not finite.
void AddReadings(const MetricValues& values, Counters& counters);
// All that CUPTI read of a kernel.
void AddReadings(const MetricSchedule& schedule, const KernelReadings& readings, Counters& counters);
// Counters of a call's kernels from their launches and from the profiler's readings; either may be missing. If their
// numbers of kernels differ, only the profiler's readings count.
struct ObservedKernels {
  std::vector<Counters> launched, profiled;
  std::string why_not_launched, why_not_profiled;
};
Counters CountersOf(const ObservedKernels& kernels);
// Why not everything is there, if so: the reason, or, where there is none, that the profiler lacks it.
void SayWhatIsAbsent(const std::string& reason, Counters& counters);

}  // namespace gemmsmith
