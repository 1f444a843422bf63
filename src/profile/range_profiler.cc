#include "profile/range_profiler.h"

#include "profile/cupti_library.h"

namespace gemmsmith {

#ifdef GEMMSMITH_HAS_CUPTI

namespace {

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

}  // namespace

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

  // Each kernel is a range, so that its times are those of the kernel alone. We run it anew for each pass, which needs
  // no copy of the operands.
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
  ASSIGN_OR_RETURN(session->cupti, Cupti::Open());
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
  RETURN_IF_ERROR(session_->Configure(schedule_->config(), most_kernels_));
  RETURN_IF_ERROR(CollectPasses(put));
  ASSIGN_OR_RETURN(const size_t kernels, session_->Decode());
  std::vector<KernelReadings> readings(kernels);
  for (size_t kernel = 0; kernel < kernels; ++kernel) {
    ASSIGN_OR_RETURN(readings[kernel], schedule_->Evaluate(session_->data, kernel));
  }
  return readings;
}

#else

struct RangeProfiler::Session {};

RangeProfiler::~RangeProfiler() = default;
Result<std::unique_ptr<RangeProfiler>> RangeProfiler::Create(const Gpu&, std::span<const std::string_view>, size_t) {
  return WithoutCupti();
}
Status RangeProfiler::Enable() { return WithoutCupti(); }
void RangeProfiler::Disable() {}
Result<std::vector<KernelReadings>> RangeProfiler::Read(const std::function<Status()>&) { return WithoutCupti(); }

#endif

}  // namespace gemmsmith
