#include "evaluate/profile/call_profiler.h"

#include "evaluate/profile/readings.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxKernels = 32;  // of a call

// A launch that the driver does not explain makes all of them useless: they could not be told apart.
Result<std::vector<Counters>> ResidencyOfAll(const Gpu& gpu, const std::vector<CapturedLaunch>& launches) {
  std::vector<Counters> kernels;
  for (const CapturedLaunch& launch : launches) {
    if (launch.function == nullptr) return Unavailable("the driver does not tell what is launched");
    ASSIGN_OR_RETURN(const Residency residency, gpu.ResidencyOf(launch.function, launch.launch));
    AddResidency(launch.launch, residency, kernels.emplace_back());
  }
  return kernels;
}

void AddAbsent(const Counters& from, Counters& to) {
  for (const CounterDefinition& definition : CounterDefinitions())
    if (std::optional<double>& value = to[definition.counter]; !value) value = from[definition.counter];
}

}  // namespace

CallProfiler::CallProfiler(Gpu& gpu) : gpu_(gpu) {
  Result<std::unique_ptr<RangeProfiler>> cupti = RangeProfiler::Create(gpu_, CounterMetrics(), kMaxKernels);
  const Status works = cupti.ok() ? (*cupti)->Enable() : cupti.status();
  if (works.ok())
    cupti_ = *std::move(cupti);
  else
    why_no_cupti_ = works.message();
}

Result<Counters> CallProfiler::Read(const std::function<Status()>& call) {
  ObservedKernels kernels;
  const Result<std::vector<CapturedLaunch>> captured = CaptureLaunches(gpu_, call);
  Result<std::vector<Counters>> launched = captured.ok() ? ResidencyOfAll(gpu_, *captured) : captured.status();
  if (launched.ok())
    kernels.launched = *std::move(launched);
  else
    kernels.why_not_launched = launched.status().message();

  RETURN_IF_ERROR(call());  // brings operands and code to where back-to-back calls find them
  RETURN_IF_ERROR(gpu_.Synchronize());
  const Result<std::vector<KernelReadings>> readings = Profile(call);
  if (!readings.ok()) kernels.why_not_profiled = readings.status().message();
  if (readings.ok())
    for (const KernelReadings& kernel : *readings)
      AddReadings(cupti_->schedule(), kernel, kernels.profiled.emplace_back());
  return CountersOf(kernels);
}

Result<std::vector<KernelReadings>> CallProfiler::Profile(const std::function<Status()>& call) {
  if (cupti_ == nullptr) return Unavailable(why_no_cupti_);
  return cupti_->Read([&]() -> Status {
    RETURN_IF_ERROR(call());
    return gpu_.Synchronize();
  });
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
              : fmt::format("the profiler saw {} kernels of a call, its capture {}", profiled, launched);
  }
  Counters counters = Combine(together);
  SayWhatIsAbsent(why, counters);
  return counters;
}

}  // namespace gemmsmith
