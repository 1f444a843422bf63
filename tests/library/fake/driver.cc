// A pretended libcuda.so.1 with one H200, whose memory is the host's and whose kernels are products on the CPU. A
// "cubin" is the text "fake tn f16 maps=2". Launches happen when they are put on a stream.
#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "device/geometry.h"
#include "fake/driver.h"
#include "fake/numbers.h"

namespace {

struct FakeModule {
  char layout[8] = "", type[8] = "";
  int maps = 0;
};

std::atomic<int64_t> launches = 0, modules = 0, chained = 0;
thread_local CUcontext current = nullptr;
const CUcontext kPrimary = reinterpret_cast<CUcontext>(0x1000);

bool IsOneOf(const void* address, const gemmsmith::GemmArguments& call) {
  return address == call.a || address == call.b || address == call.c;
}

}  // namespace

int64_t FakeLaunches() { return launches; }
int64_t FakeChainedLaunches() { return chained; }
int64_t FakeModules() { return modules; }

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
  return *device = 0, CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, size_t(size), "NVIDIA H200");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) { return std::memset(uuid, 7, sizeof *uuid), CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) { return *bytes = size_t{141} << 30, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return *value = 9, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return *value = 0, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return *value = 132, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return *value = 232448, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return *value = 233472, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return *value = 60 << 20, CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) { return *context = kPrimary, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) { return current = context, CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = current, CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = 0, CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) { return current = context, CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext* context) { return *context = current, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "FAKE_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "as the fake driver says", CUDA_SUCCESS; }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  FakeModule made;
  if (std::sscanf(static_cast<const char*>(image), "fake %7s %7s maps=%d", made.layout, made.type, &made.maps) != 3)
    return CUDA_ERROR_INVALID_IMAGE;
  ++modules;
  *module = reinterpret_cast<CUmodule>(new FakeModule(made));
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  --modules;
  return delete reinterpret_cast<FakeModule*>(module), CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  return *function = reinterpret_cast<CUfunction>(module), CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, CUfunction, int, size_t) {
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction, const CUlaunchConfig* config) {
  return *count = 132 / int(config->attrs[0].value.clusterDim.x), CUDA_SUCCESS;
}

// The fake map holds the address alone.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void* address, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return std::memcpy(map, &address, sizeof address), CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (reinterpret_cast<uintptr_t>(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  return std::memcpy(map, &address, sizeof address), CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
  const FakeModule& kernel = *reinterpret_cast<const FakeModule*>(function);
  const auto* const block = static_cast<const std::byte*>(parameters[0]);
  gemmsmith::GemmArguments call;
  std::memcpy(&call, block + kernel.maps * 128, sizeof call);
  for (int i = 0; i < kernel.maps; ++i) {
    const void* address = nullptr;
    std::memcpy(&address, block + i * 128, sizeof address);
    if (!IsOneOf(address, call)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (config->gridDimX == 0 || config->gridDimY == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    chained += config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  ++launches;
  const std::string_view layout = kernel.layout;
  const int type = std::string_view(kernel.type) == "bf16" ? kFakeBf16 : kFakeF16;
  for (int64_t i = 0; i < call.m; ++i)
    for (int64_t j = 0; j < call.n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < call.k; ++k)
        sum += FakeRead(call.a, type, layout.starts_with("col") ? k * call.lda + i : i * call.lda + k) *
               FakeRead(call.b, type, layout == "tn" || layout == "col-col" ? j * call.ldb + k : k * call.ldb + j);
      FakeWrite(call.c, type, i * call.ldc + j, sum);
    }
  return CUDA_SUCCESS;
}

}  // extern "C"
