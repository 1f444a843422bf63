#include "gpu/cupti.h"

#include <dlfcn.h>

#include <limits>

#include "base/installation.h"

// A toolkit put together from packages may come without CUPTI's headers; then this file says so at run time.
#if __has_include(<cupti_range_profiler.h>)
#define GEMMSMITH_HAS_CUPTI 1
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#endif

namespace gemmsmith {

#ifdef GEMMSMITH_HAS_CUPTI

namespace {

constexpr const char* kLibrary = "libcupti.so.13";

// clang-format off
#define GEMMSMITH_CUPTI_FUNCTIONS(X)                                                                                  \
  X(cuptiGetResultString) X(cuptiDeviceGetChipName) X(cuptiProfilerInitialize) X(cuptiProfilerDeviceSupported)        \
  X(cuptiProfilerGetCounterAvailability) X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize)              \
  X(cuptiProfilerHostGetMetricProperties) X(cuptiProfilerHostConfigAddMetrics) X(cuptiProfilerHostGetConfigImageSize) \
  X(cuptiProfilerHostGetConfigImage) X(cuptiProfilerHostGetNumOfPasses) X(cuptiProfilerHostEvaluateToGpuValues)       \
  X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) X(cuptiRangeProfilerSetConfig)                             \
  X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) X(cuptiRangeProfilerStart)  \
  X(cuptiRangeProfilerStop) X(cuptiRangeProfilerDecodeData) X(cuptiRangeProfilerGetCounterDataInfo)
// clang-format on

struct Cupti {
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
  GEMMSMITH_CUPTI_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE

  // Once a process.
  static Result<const Cupti*> Open() {
    static const Result<Cupti> cupti = Load();
    if (!cupti.ok()) return cupti.status();
    return &*cupti;
  }

  static Result<Cupti> Load() {
    ASSIGN_OR_RETURN(void* const handle, OpenLibrary(kLibrary));
    Cupti cupti;
#define GEMMSMITH_RESOLVE(name)                                           \
  cupti.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)); \
  if (cupti.name == nullptr)                                              \
    return Unavailable(fmt::format("{} lacks {}: CUPTI of CUDA 13 is needed", kLibrary, #name));
    GEMMSMITH_CUPTI_FUNCTIONS(GEMMSMITH_RESOLVE)
#undef GEMMSMITH_RESOLVE
    return cupti;
  }
};

std::string_view WhatToDo(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return ": the driver shows counters to administrators only; run as root, or load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return ": another profiler holds the counters";
    default:
      return "";
  }
}

Status CuptiStatus(const Cupti& cupti, CUptiResult result, std::string_view function) {
  if (result == CUPTI_SUCCESS) return OkStatus();
  const char* name = nullptr;
  if (cupti.cuptiGetResultString(result, &name) != CUPTI_SUCCESS) name = nullptr;
  return Unavailable(fmt::format("CUPTI: {}: {}{}", function,
                                 name == nullptr ? fmt::format("error {}", int(result)) : std::string(name),
                                 WhatToDo(result)));
}
#define RETURN_IF_CUPTI_ERROR(cupti, function, params) \
  RETURN_IF_ERROR(CuptiStatus(*(cupti), (cupti)->function(params), #function))

// Every parameter block begins with its own size.
#define GEMMSMITH_CUPTI_PARAMS(type, name) \
  type name{};                             \
  name.structSize = type##_STRUCT_SIZE

// The first part of the machine that keeps profilers away, in words.
std::string UnsupportedPart(const CUpti_Profiler_DeviceSupported_Params& support) {
  const std::pair<CUpti_Profiler_Support_Level, const char*> parts[] = {
      {support.architecture, "its architecture"},
      {support.sli, "SLI"},
      {support.vGpu, "its virtualisation (vGPU without profiling)"},
      {support.confidentialCompute, "confidential computing"},
      {support.cmp, "being a mining processor"},
      {support.wsl, "WSL"}};
  for (const auto& [level, name] : parts)
    if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
      return name;
  return "its configuration";
}

Status CheckDevice(const Cupti* cupti, int ordinal) {
  GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, support);
  support.cuDevice = ordinal;  // the driver's device handles are ordinals
  support.api = CUPTI_PROFILER_RANGE_PROFILING;
  RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerDeviceSupported, &support);
  if (support.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return OkStatus();
  return Unavailable(fmt::format("CUPTI profiles no kernels on this GPU: {} prevents it", UnsupportedPart(support)));
}

Result<std::string> ChipName(const Cupti* cupti, int ordinal) {
  GEMMSMITH_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = size_t(ordinal);
  RETURN_IF_CUPTI_ERROR(cupti, cuptiDeviceGetChipName, &chip);
  if (chip.pChipName == nullptr) return Unavailable("CUPTI has no name for this GPU's chip");
  return std::string(chip.pChipName);
}

Result<std::vector<uint8_t>> CounterAvailability(const Cupti* cupti, CUcontext context) {
  GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, availability);
  availability.ctx = context;
  RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerGetCounterAvailability, &availability);
  std::vector<uint8_t> image(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = image.data();
  RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerGetCounterAvailability, &availability);
  return image;
}

std::vector<const char*> PointersTo(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

}  // namespace

// ---- what is collected, and how

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

// ---- collecting it

// The profiler while it is enabled on a context.
struct RangeProfiler::Session {
  const Cupti* cupti = nullptr;
  CUpti_RangeProfiler_Object* profiler = nullptr;
  std::vector<uint8_t> data;  // the counter data image

  ~Session() {
    if (profiler == nullptr) return;
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = profiler;
    cupti->cuptiRangeProfilerDisable(&params);
  }

  Status Open(CUcontext context, const std::vector<std::string>& metrics, size_t most_kernels) {
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerEnable, &enable);
    profiler = enable.pRangeProfilerObject;
    std::vector<const char*> names = PointersTo(metrics);
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = profiler;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = most_kernels;
    size.maxNumRangeTreeNodes = uint32_t(most_kernels);
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerGetCounterDataSize, &size);
    data.resize(size.counterDataSize);
    return OkStatus();
  }

  // Each kernel is a range, so that its times are those of the kernel alone; we run it anew for each pass, which needs
  // no copy of the operands aside.
  Status Configure(const std::vector<uint8_t>& config, size_t most_kernels) {
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, fresh);
    fresh.pRangeProfilerObject = profiler;
    fresh.pCounterData = data.data();
    fresh.counterDataSize = data.size();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerCounterDataImageInitialize, &fresh);
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = profiler;
    set.pConfig = config.data();
    set.configSize = config.size();
    set.pCounterDataImage = data.data();
    set.counterDataImageSize = data.size();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = most_kernels;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerSetConfig, &set);
    return OkStatus();
  }

  Status Start() {
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = profiler;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerStart, &start);
    return OkStatus();
  }

  // Whether that was the last pass.
  Result<bool> Stop() {
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = profiler;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerStop, &stop);
    return stop.isAllPassSubmitted != 0;
  }

  // How many kernels there are data of.
  Result<size_t> Decode() {
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = profiler;
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerDecodeData, &decode);
    if (decode.numOfRangeDropped > 0)
      return Unavailable(fmt::format("CUPTI has no room for {} of the kernels that ran", decode.numOfRangeDropped));
    GEMMSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = data.data();
    info.counterDataImageSize = data.size();
    RETURN_IF_CUPTI_ERROR(cupti, cuptiRangeProfilerGetCounterDataInfo, &info);
    return info.numTotalRanges;
  }
};

RangeProfiler::RangeProfiler(CUcontext context, std::unique_ptr<MetricSchedule> schedule, size_t most_kernels)
    : context_(context), schedule_(std::move(schedule)), most_kernels_(most_kernels) {}
RangeProfiler::~RangeProfiler() = default;

Result<std::unique_ptr<RangeProfiler>> RangeProfiler::Create(const Gpu& gpu, std::span<const std::string_view> metrics,
                                                             size_t most_kernels) {
  ASSIGN_OR_RETURN(const Cupti* const cupti, Cupti::Open());
  GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  RETURN_IF_CUPTI_ERROR(cupti, cuptiProfilerInitialize, &initialize);
  const int ordinal = gpu.identity().ordinal;
  RETURN_IF_ERROR(CheckDevice(cupti, ordinal));
  ASSIGN_OR_RETURN(const std::string chip, ChipName(cupti, ordinal));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> availability, CounterAvailability(cupti, gpu.context()));
  ASSIGN_OR_RETURN(std::unique_ptr<MetricSchedule> schedule, MetricSchedule::Make(chip, metrics, availability));
  return std::unique_ptr<RangeProfiler>(new RangeProfiler(gpu.context(), std::move(schedule), most_kernels));
}

Status RangeProfiler::Enable() {
  auto session = std::make_unique<Session>();
  session->cupti = schedule_->state_->cupti;
  RETURN_IF_ERROR(session->Open(context_, schedule_->metrics(), most_kernels_));
  session_ = std::move(session);
  return OkStatus();
}

void RangeProfiler::Disable() { session_.reset(); }

Status RangeProfiler::CollectPasses(const std::function<Status()>& put) {
  const size_t most_passes = 2 * schedule_->passes() + 2;  // it says when it has enough; never trust that it will
  for (size_t pass = 0; pass < most_passes; ++pass) {
    RETURN_IF_ERROR(session_->Start());
    const Status ran = put();
    const Result<bool> is_last = session_->Stop();
    RETURN_IF_ERROR(ran);
    RETURN_IF_ERROR(is_last.status());
    if (*is_last) return OkStatus();
  }
  return Unavailable(fmt::format("CUPTI was not content with {} passes", most_passes));
}

Result<std::vector<KernelReadings>> RangeProfiler::Read(const std::function<Status()>& put) {
  GEMMSMITH_CHECK(session_ != nullptr, "counters are read while the profiler is off");
  RETURN_IF_ERROR(session_->Configure(schedule_->state_->config, most_kernels_));
  RETURN_IF_ERROR(CollectPasses(put));
  ASSIGN_OR_RETURN(const size_t kernels, session_->Decode());
  std::vector<KernelReadings> readings(kernels);
  for (size_t kernel = 0; kernel < kernels; ++kernel) {
    ASSIGN_OR_RETURN(readings[kernel], Evaluate(kernel));
  }
  return readings;
}

Result<KernelReadings> RangeProfiler::Evaluate(size_t kernel) {
  std::vector<const char*> names = PointersTo(schedule_->metrics());
  KernelReadings values(names.size(), std::numeric_limits<double>::quiet_NaN());
  GEMMSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = schedule_->state_->host;
  params.pCounterDataImage = session_->data.data();
  params.counterDataImageSize = session_->data.size();
  params.rangeIndex = kernel;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  RETURN_IF_CUPTI_ERROR(session_->cupti, cuptiProfilerHostEvaluateToGpuValues, &params);
  return values;
}

#else

namespace {
Status NotBuilt() {
  return Unavailable("this program was built without CUPTI's headers: build it with a toolkit that has them");
}
}  // namespace

struct MetricSchedule::State {
  std::vector<std::string> metrics, unknown;
};
struct RangeProfiler::Session {};

MetricSchedule::~MetricSchedule() = default;
const std::vector<std::string>& MetricSchedule::metrics() const { return state_->metrics; }
const std::vector<std::string>& MetricSchedule::unknown() const { return state_->unknown; }
size_t MetricSchedule::passes() const { return 0; }
Result<std::unique_ptr<MetricSchedule>> MetricSchedule::Make(const std::string&, std::span<const std::string_view>,
                                                             std::span<const uint8_t>) {
  return NotBuilt();
}
RangeProfiler::~RangeProfiler() = default;
Result<std::unique_ptr<RangeProfiler>> RangeProfiler::Create(const Gpu&, std::span<const std::string_view>, size_t) {
  return NotBuilt();
}
Status RangeProfiler::Enable() { return NotBuilt(); }
void RangeProfiler::Disable() {}
Result<std::vector<KernelReadings>> RangeProfiler::Read(const std::function<Status()>&) { return NotBuilt(); }

#endif

}  // namespace gemmsmith
