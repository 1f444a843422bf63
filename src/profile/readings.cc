#include "profile/readings.h"

#include <cmath>

namespace gemmsmith {

namespace {

double Warps(const Dim3& block) { return std::ceil(double(block.x) * block.y * block.z / 32); }

std::string NamesOfAbsent(const Counters& counters) {
  std::string names;
  for (const CounterDefinition& definition : CounterDefinitions())
    if (!counters[definition.counter]) names += fmt::format("{}{}", names.empty() ? "" : ", ", definition.name);
  return names;
}

void AddAbsent(const Counters& from, Counters& to) {
  for (const CounterDefinition& definition : CounterDefinitions())
    if (std::optional<double>& value = to[definition.counter]; !value) value = from[definition.counter];
}

}  // namespace

std::vector<std::string_view> CounterMetrics() {
  std::vector<std::string_view> metrics;
  for (const CounterDefinition& definition : CounterDefinitions())
    for (const std::string_view metric : {definition.metric, definition.beside})
      if (!metric.empty()) metrics.push_back(metric);
  return metrics;
}

void AddResidency(const KernelResidency& kernel, Counters& counters) {
  const auto& [launch, residency] = kernel;
  counters[Counter::kRegisters] = residency.registers_per_thread;
  counters[Counter::kSmemBytes] = residency.static_smem_bytes + double(launch.smem_bytes);
  counters[Counter::kCtasPerMultiprocessor] = residency.ctas_per_multiprocessor;
  if (residency.max_warps_per_multiprocessor > 0)
    counters[Counter::kTheoreticalOccupancy] =
        100 * residency.ctas_per_multiprocessor * Warps(launch.block) / residency.max_warps_per_multiprocessor;
  if (residency.ctas_at_once > 0)
    counters[Counter::kWaves] = double(launch.grid.x) * launch.grid.y * launch.grid.z / double(residency.ctas_at_once);
}

void AddReadings(const MetricValues& values, Counters& counters) {
  const auto value_of = [&](std::string_view metric) {
    const auto found = values.find(std::string(metric));
    return found != values.end() ? found->second : std::nan("");
  };
  for (const CounterDefinition& definition : CounterDefinitions()) {
    double value = value_of(definition.metric);
    if (!definition.beside.empty()) value /= value + value_of(definition.beside);
    if (std::isfinite(value)) counters[definition.counter] = value * definition.scale;
  }
}

void AddReadings(const MetricSchedule& schedule, const KernelReadings& readings, Counters& counters) {
  MetricValues values;
  for (size_t i = 0; i < readings.size(); ++i) values.emplace(schedule.metrics()[i], readings[i]);
  AddReadings(values, counters);
  counters.observer = "cupti";
}

Counters CountersOf(const ObservedKernels& kernels) {
  const size_t launched = kernels.launched.size(), profiled = kernels.profiled.size();
  std::string why = kernels.why_not_profiled;
  std::vector<Counters> together = profiled > 0 ? kernels.profiled : kernels.launched;
  if (profiled > 0 && profiled == launched) {
    for (size_t i = 0; i < profiled; ++i) AddAbsent(kernels.launched[i], together[i]);
  } else if (why.empty()) {
    why = !kernels.why_not_launched.empty()
              ? kernels.why_not_launched
              : fmt::format("the profiler saw {} kernels of a call, which has {}", profiled, launched);
  }
  Counters counters = Combine(together);
  SayWhatIsAbsent(why, counters);
  return counters;
}

void SayWhatIsAbsent(const std::string& reason, Counters& counters) {
  const std::string absent = NamesOfAbsent(counters);
  if (absent.empty()) return;
  counters.lacks = reason.empty() ? fmt::format("the profiler has no {}", absent) : reason;
}

}  // namespace gemmsmith
