#include "profile/metric_schedule.h"

#include <limits>

#include "profile/cupti_library.h"

namespace gemmsmith {

#ifdef GEMMSMITH_HAS_CUPTI

struct MetricSchedule::State {
  const Cupti* cupti = nullptr;
  CUpti_Profiler_Host_Object* host = nullptr;
  // The host object may point at these two.
  std::string chip;
  std::vector<uint8_t> availability;
  std::vector<std::string> metrics, unknown;
  std::vector<uint8_t> config;
  size_t passes = 0;

  ~State() {
    if (host == nullptr) return;
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = host;
    cupti->cuptiProfilerHostDeinitialize(&params);
  }

  Status OpenHost() {
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerHostInitialize, &params);
    host = params.pHostObject;
    return OkStatus();
  }

  // One wrong name would spoil the host object for all names after it.
  void SortOut(std::span<const std::string_view> wanted) {
    for (const std::string_view name : wanted) {
      const std::string metric(name);
      GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
      params.pHostObject = host;
      params.pMetricName = metric.c_str();
      const bool is_known = cupti->cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
      (is_known ? metrics : unknown).push_back(metric);
    }
  }

  Status Schedule() {
    std::vector<const char*> names = PointersTo(metrics);
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = host;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerHostConfigAddMetrics, &add);
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = host;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerHostGetConfigImageSize, &size);
    config.resize(size.configImageSize);
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
    image.pHostObject = host;
    image.pConfigImage = config.data();
    image.configImageSize = config.size();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerHostGetConfigImage, &image);
    GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
    count.pConfigImage = config.data();
    count.configImageSize = config.size();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerHostGetNumOfPasses, &count);
    passes = count.numOfPasses;
    return OkStatus();
  }
};

MetricSchedule::MetricSchedule(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricSchedule::~MetricSchedule() = default;
const std::vector<std::string>& MetricSchedule::metrics() const { return state_->metrics; }
const std::vector<std::string>& MetricSchedule::unknown() const { return state_->unknown; }
size_t MetricSchedule::passes() const { return state_->passes; }
const std::vector<uint8_t>& MetricSchedule::config() const { return state_->config; }

Result<std::unique_ptr<MetricSchedule>> MetricSchedule::Make(const std::string& chip,
                                                             std::span<const std::string_view> metrics,
                                                             std::span<const uint8_t> availability) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->cupti, Cupti::Open());
  state->chip = chip;
  state->availability.assign(availability.begin(), availability.end());
  RETURN_IF_ERROR(state->OpenHost());
  state->SortOut(metrics);
  if (state->metrics.empty()) return Unavailable(fmt::format("CUPTI has none of our metrics on {}", chip));
  RETURN_IF_ERROR(state->Schedule());
  return std::unique_ptr<MetricSchedule>(new MetricSchedule(std::move(state)));
}

Result<KernelReadings> MetricSchedule::Evaluate(std::span<const uint8_t> counters, size_t kernel) const {
  std::vector<const char*> names = PointersTo(metrics());
  KernelReadings values(names.size(), std::numeric_limits<double>::quiet_NaN());
  GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = state_->host;
  params.pCounterDataImage = counters.data();
  params.counterDataImageSize = counters.size();
  params.rangeIndex = kernel;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  RETURN_IF_CUPTI_ERROR(state_->cupti, cuptiProfilerHostEvaluateToGpuValues, &params);
  return values;
}

#else

struct MetricSchedule::State {
  std::vector<std::string> metrics, unknown;
  std::vector<uint8_t> config;
};

MetricSchedule::~MetricSchedule() = default;
const std::vector<std::string>& MetricSchedule::metrics() const { return state_->metrics; }
const std::vector<std::string>& MetricSchedule::unknown() const { return state_->unknown; }
size_t MetricSchedule::passes() const { return 0; }
const std::vector<uint8_t>& MetricSchedule::config() const { return state_->config; }
Result<KernelReadings> MetricSchedule::Evaluate(std::span<const uint8_t>, size_t) const { return WithoutCupti(); }
Result<std::unique_ptr<MetricSchedule>> MetricSchedule::Make(const std::string&, std::span<const std::string_view>,
                                                             std::span<const uint8_t>) {
  return WithoutCupti();
}

#endif

}  // namespace gemmsmith
