#include "gpu/driver.h"

#include <dlfcn.h>

#include "gpu/symbol.h"

namespace gemmsmith {

namespace {

constexpr int kOldestDriver = 13000;  // a cubin of CUDA 13 runs on the drivers of CUDA 13 and later

std::string Explain(CUresult result, const Driver& driver) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  if (name == nullptr || text == nullptr) return fmt::format("error {}", int(result));
  return fmt::format("{} ({})", name, text);
}

// "cuMemAlloc" from "driver_->cuMemAlloc(&address, bytes)".
std::string_view FunctionOf(std::string_view call) {
  call = call.substr(0, call.find('('));
  const size_t arrow = call.rfind("->");
  return arrow == std::string_view::npos ? call : call.substr(arrow + 2);
}

}  // namespace

Result<Driver> Driver::Load(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Unavailable(fmt::format("no NVIDIA driver: {} does not open; a GPU needs driver 580 or later", library));
  Driver driver;
  // The version first: an old driver lacks functions, and its age is the better explanation.
  driver.cuDriverGetVersion = reinterpret_cast<decltype(&::cuDriverGetVersion)>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  if (driver.cuDriverGetVersion == nullptr || driver.cuDriverGetVersion(&version) != CUDA_SUCCESS)
    return Unavailable(fmt::format("{} is no NVIDIA driver library: it tells no version", library));
  if (version < kOldestDriver)
    return Unavailable(
        fmt::format("the NVIDIA driver is too old: it knows CUDA {}.{}, CUDA 13 needs driver 580 or later",
                    version / 1000, version % 1000 / 10));
#define GEMMSMITH_RESOLVE(name)                                                             \
  driver.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, GEMMSMITH_SYMBOL(name))); \
  if (driver.name == nullptr)                                                               \
    return Unavailable(fmt::format("the NVIDIA driver lacks {}: install driver 580 or later", GEMMSMITH_SYMBOL(name)));
  GEMMSMITH_DRIVER_FUNCTIONS(GEMMSMITH_RESOLVE)
#undef GEMMSMITH_RESOLVE
  const CUresult initialised = driver.cuInit(0);
  int count = 0;
  if (initialised == CUDA_SUCCESS) driver.cuDeviceGetCount(&count);
  if (initialised == CUDA_ERROR_NO_DEVICE || (initialised == CUDA_SUCCESS && count == 0))
    return Unavailable("the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES set?)");
  if (initialised != CUDA_SUCCESS)
    return Unavailable(fmt::format("the NVIDIA driver does not start: cuInit: {}", Explain(initialised, driver)));
  return driver;
}

Result<const Driver*> Driver::Open() {
  static const Result<Driver> driver = Load("libcuda.so.1");
  if (!driver.ok()) return driver.status();
  return &*driver;
}

Status DriverStatus(CUresult result, std::string_view call) {
  if (result == CUDA_SUCCESS) return OkStatus();
  const Result<const Driver*> driver = Driver::Open();
  const std::string reason = driver.ok() ? Explain(result, **driver) : fmt::format("error {}", int(result));
  return IoError(fmt::format("{}: {}", FunctionOf(call), reason));
}

}  // namespace gemmsmith
