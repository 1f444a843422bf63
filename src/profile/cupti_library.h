// CUPTI's profiling library, opened at run time, and its errors in words. For the files of this folder that call it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

// A toolkit put together from packages may come without CUPTI's headers; then what needs them says so at run time.
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
  static Result<const Cupti*> Open();
};

Status CuptiStatus(const Cupti& cupti, CUptiResult result, std::string_view function);
#define RETURN_IF_CUPTI_ERROR(cupti, function, params) \
  RETURN_IF_ERROR(CuptiStatus(*(cupti), (cupti)->function(params), #function))

// Every parameter block begins with its own size.
#define GEMMSMITH_CUPTI_PARAMS(type, name) \
  type name{};                             \
  name.structSize = type##_STRUCT_SIZE

// As CUPTI takes lists of names.
std::vector<const char*> PointersTo(const std::vector<std::string>& names);

#else

Status WithoutCupti();

#endif

}  // namespace gemmsmith
