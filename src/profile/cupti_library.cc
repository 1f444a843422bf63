#include "profile/cupti_library.h"

#include <dlfcn.h>

#include "base/installation.h"

namespace gemmsmith {

#ifdef GEMMSMITH_HAS_CUPTI

namespace {

constexpr const char* kLibrary = "libcupti.so.13";

Result<Cupti> Load() {
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

}  // namespace

Result<const Cupti*> Cupti::Open() {
  static const Result<Cupti> cupti = Load();
  if (!cupti.ok()) return cupti.status();
  return &*cupti;
}

Status CuptiStatus(const Cupti& cupti, CUptiResult result, std::string_view function) {
  if (result == CUPTI_SUCCESS) return OkStatus();
  const char* name = nullptr;
  if (cupti.cuptiGetResultString(result, &name) != CUPTI_SUCCESS) name = nullptr;
  return Unavailable(fmt::format("CUPTI: {}: {}{}", function,
                                 name == nullptr ? fmt::format("error {}", int(result)) : std::string(name),
                                 WhatToDo(result)));
}
std::vector<const char*> PointersTo(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

#else

Status WithoutCupti() {
  return Unavailable("this program was built without CUPTI's headers: build it with a toolkit that has them");
}

#endif

}  // namespace gemmsmith
