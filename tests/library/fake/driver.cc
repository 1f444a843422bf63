// A pretended libcuda.so.1 with H200s, whose memory is the host's and whose kernels are products on the CPU. A "cubin"
// is the text "fake tn f16 maps=2".
#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "device/geometry.h"
#include "fake/driver.h"
#include "fake/numbers.h"

namespace {

struct FakeModule {
  char layout[8] = "", type[8] = "";
  int maps = 0;
  CUcontext context = nullptr;  // that it is loaded into
  unsigned smem_limit = 48 << 10;
};

std::atomic<int64_t> launches = 0, modules = 0, chained = 0;
std::atomic<void*> workspace = nullptr;  // of the last launch
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
thread_local std::vector<CUcontext> contexts;  // the last one is current

constexpr uintptr_t kFirstContext = 0x1000;
CUcontext PrimaryOf(CUdevice device) { return reinterpret_cast<CUcontext>(kFirstContext + uintptr_t(device)); }
CUcontext Current() { return contexts.empty() ? nullptr : contexts.back(); }

std::atomic<int> captures = 0;
std::mutex graphs_mutex;
std::map<void*, FakeGraph> graphs;  // of the streams that are captured
std::map<void*, uint64_t> capture_ids;
uint64_t last_capture = 0;

void Multiply(const FakeModule& kernel, const gemmsmith::GemmArguments& call) {
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
}

bool IsOneOf(const void* address, const gemmsmith::GemmArguments& call) {
  return address == call.a || address == call.b || address == call.c;
}

}  // namespace

int64_t FakeLaunches() { return launches; }
int64_t FakeChainedLaunches() { return chained; }
int64_t FakeModules() { return modules; }
void* FakeWorkspace() { return workspace; }

int FakeNumber(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

void FakeBeginCapture(void* stream) {
  const std::lock_guard lock(graphs_mutex);
  graphs[stream].clear();
  capture_ids[stream] = ++last_capture;
  ++captures;
}
FakeGraph FakeEndCapture(void* stream) {
  const std::lock_guard lock(graphs_mutex);
  FakeGraph graph = std::move(graphs[stream]);
  graphs.erase(stream);
  --captures;
  return graph;
}
bool FakeIsCaptured(void* stream) {
  if (captures == 0) return false;
  const std::lock_guard lock(graphs_mutex);
  return graphs.count(stream) != 0;
}
void FakeRecord(void* stream, std::function<void()> work) {
  const std::lock_guard lock(graphs_mutex);
  graphs[stream].push_back(std::move(work));
}

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = FakeNumber("FAKE_CUDA", 13000), CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = FakeNumber("FAKE_GPUS", 1), CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= FakeNumber("FAKE_GPUS", 1)) return CUDA_ERROR_INVALID_DEVICE;
  return *device = ordinal, CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, size_t(size), FakeNumber("FAKE_CAPABILITY", 90) == 90 ? "NVIDIA H200" : "NVIDIA Fake");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) { return std::memset(uuid, 7, sizeof *uuid), CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) { return *bytes = size_t{141} << 30, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return *value = FakeNumber("FAKE_CAPABILITY", 90) / 10, CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return *value = FakeNumber("FAKE_CAPABILITY", 90) % 10, CUDA_SUCCESS;
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
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return *context = PrimaryOf(device), CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) {
  if (contexts.empty()) contexts.push_back(nullptr);
  return contexts.back() = context, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = Current(), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) {
  if (Current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = CUdevice(reinterpret_cast<uintptr_t>(Current()) - kFirstContext), CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) { return contexts.push_back(context), CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = contexts.back();
  return contexts.pop_back(), CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "FAKE_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "as the fake driver says", CUDA_SUCCESS; }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  if (captures > 0 && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  FakeModule made;
  if (std::sscanf(static_cast<const char*>(image), "fake %7s %7s maps=%d", made.layout, made.type, &made.maps) != 3)
    return CUDA_ERROR_INVALID_IMAGE;
  made.context = Current();
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
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    reinterpret_cast<FakeModule*>(function)->smem_limit = unsigned(value);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, CUfunction, int, size_t) {
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction, const CUlaunchConfig* config) {
  return *count = 132 / int(config->attrs[0].value.clusterDim.x), CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = FakeIsCaptured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// A stream's identity is its handle, and a graph's handle is the stream that it is captured from.
CUresult cuStreamGetId(CUstream stream, unsigned long long* identity) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuStreamIsCapturing(stream, &status);
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return *identity = reinterpret_cast<uintptr_t>(stream), CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* identity, CUgraph* graph,
                                const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
  cuStreamIsCapturing(stream, status);
  if (*status == CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex);
  *identity = capture_ids.at(stream);
  return *graph = reinterpret_cast<CUgraph>(stream), CUDA_SUCCESS;
}
CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned, unsigned) {
  if (FakeNumber("FAKE_USER_OBJECTS", 1) == 0) return CUDA_ERROR_NOT_SUPPORTED;
  *object = reinterpret_cast<CUuserObject>(new std::shared_ptr<void>(data, destroy));
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned) {
  return delete reinterpret_cast<std::shared_ptr<void>*>(object), CUDA_SUCCESS;
}
// The graph keeps it as work that does nothing.
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned, unsigned) {
  FakeRecord(graph, [kept = *reinterpret_cast<std::shared_ptr<void>*>(object)] {});
  return cuUserObjectRelease(object, 1);
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  if (FakeNumber("FAKE_MEMORY", 1) == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  return *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes)), CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) { return std::free(reinterpret_cast<void*>(address)), CUDA_SUCCESS; }
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream) {
  return std::memset(reinterpret_cast<void*>(address), value, bytes), CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  static char any;
  return *stream = reinterpret_cast<CUstream>(&any), CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return std::swap(*mode, capture_mode), CUDA_SUCCESS;
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
  if (kernel.context != Current()) return CUDA_ERROR_INVALID_HANDLE;
  if (config->sharedMemBytes > kernel.smem_limit) return CUDA_ERROR_INVALID_VALUE;
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
  workspace = call.workspace;
  FakeSubmit(config->hStream, [kernel, call] { Multiply(kernel, call); });
  return CUDA_SUCCESS;
}

}  // extern "C"
