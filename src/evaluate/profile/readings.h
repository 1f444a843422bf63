// What a profiler and the driver say of a kernel, entered into its counters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evaluate/counters.h"
#include "gpu/metric_schedule.h"
#include "gpu/gpu.h"

namespace gemmsmith {

// What every metric of the counters is called, in the order of the counters that have one.
std::vector<std::string_view> CounterMetrics();
// Registers, shared memory, occupancy and waves, which no profiler is needed for.
void AddResidency(const Launch& launch, const Residency& residency, Counters& counters);
// The value of a metric that was asked for; what is not finite is none. CHECKs that the metric is one of ours.
void AddReading(std::string_view metric, double value, Counters& counters);
// All that CUPTI read of a kernel.
void AddReadings(const MetricSchedule& schedule, const KernelReadings& readings, Counters& counters);
// Why not everything is there, if so: the reason, or, where there is none, that the profiler lacks it.
void SayWhatIsAbsent(const std::string& reason, Counters& counters);

}  // namespace gemmsmith
