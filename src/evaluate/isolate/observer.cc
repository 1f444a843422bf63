#include "evaluate/isolate/observer.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace gemmsmith {

namespace {

constexpr size_t kMaxMisdeeds = 16, kMaxKernels = 1024;
constexpr int kLoadingEntries = 2;  // the object itself and the first call

// By the beginnings of their names, so that later versions of a call count too.
constexpr std::array<std::string_view, 50> kNever = {"cuMemAlloc",
                                                     "cuMemFree",
                                                     "cuMemHost",
                                                     "cuMemCreate",
                                                     "cuMemMap",
                                                     "cuMemUnmap",
                                                     "cuMemAddress",
                                                     "cuMemSetAccess",
                                                     "cuMemExport",
                                                     "cuMemImport",
                                                     "cuMemPool",
                                                     "cuMemGetHandle",
                                                     "cuMemGetAddressRange",
                                                     "cuMemcpyHtoD",
                                                     "cuMemcpyDtoH",
                                                     "cuMemcpyHtoA",
                                                     "cuMemcpyAtoH",
                                                     "cuMemcpyPeer",
                                                     "cuMemcpyAsync",  // finds out by itself whose the memory is
                                                     "cuMemcpy3D",
                                                     "cuMemcpyBatch",
                                                     "cuIpc",
                                                     "cuStreamCreate",
                                                     "cuStreamDestroy",
                                                     "cuStreamBeginCapture",
                                                     "cuStreamEndCapture",
                                                     "cuStreamSetAttribute",
                                                     "cuStreamCopyAttributes",
                                                     "cuStreamAddCallback",
                                                     "cuStreamUpdateCapture",
                                                     "cuStreamWaitValue",
                                                     "cuStreamWriteValue",
                                                     "cuStreamBatchMemOp",
                                                     "cuEventCreate",
                                                     "cuEventDestroy",
                                                     "cuEventElapsedTime",
                                                     "cuGraph",
                                                     "cuUserObject",
                                                     "cuLaunchHostFunc",
                                                     "cuCtxCreate",
                                                     "cuCtxDestroy",
                                                     "cuCtxSetLimit",
                                                     "cuCtxSetCacheConfig",
                                                     "cuCtxResetPersisting",
                                                     "cuDevicePrimaryCtxReset",
                                                     "cuDevicePrimaryCtxSetFlags",
                                                     "cuGreenCtx",
                                                     "cuMulticast",
                                                     "cuProfiler",
                                                     "cuThreadExchangeStreamCaptureMode"};
constexpr std::array<std::string_view, 3> kOnlyAtFirst = {"cuModuleLoad", "cuLibraryLoad", "cuLink"};

bool StartsWithAny(std::string_view name, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

class BlindObserver : public Observer {
 public:
  std::string_view name() const override { return "capture"; }
  bool sees_calls() const override { return false; }
  void Enter(CUstream) override {}
  void Leave() override {}
};

// ---- CUPTI, as far as it is needed, with the layout that its version 13 documents.

using CuptiCallback = void (*)(void* user, int domain, uint32_t call, const void* data);
constexpr int kDriverDomain = 1;
constexpr int kOnEntry = 0;

struct CuptiCallbackData {
  int site;
  const char* function;
  const void* parameters;
  void* returned;
  const char* symbol;  // of launches: the kernel's name
  CUcontext context;
  uint32_t context_uid;
  uint64_t* correlation;
  uint32_t correlation_id;
};

// The parameters of the calls that put work on a stream, as far as the stream.
struct LaunchParameters {
  CUfunction function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, smem_bytes;
  CUstream stream;
};
struct LaunchExParameters {
  const CUlaunchConfig* config;
};
struct CopyParameters {
  CUdeviceptr to, from;
  size_t bytes;
  CUstream stream;
};
struct Copy2dParameters {
  const CUDA_MEMCPY2D* copy;
  CUstream stream;
};
struct FillParameters {
  CUdeviceptr to;
  unsigned value;  // of one, two or four bytes
  size_t count;
  CUstream stream;
};
struct Fill2dParameters {
  CUdeviceptr to;
  size_t pitch;
  unsigned value;
  size_t width, height;
  CUstream stream;
};

// Nothing for calls whose parameters are not known.
std::optional<CUstream> StreamOf(std::string_view call, const void* parameters) {
  const auto is = [&](std::string_view beginning) { return call.starts_with(beginning); };
  if (is("cuLaunchKernelEx")) return static_cast<const LaunchExParameters*>(parameters)->config->hStream;
  if (is("cuLaunchCooperativeKernelMulti")) return std::nullopt;
  if (is("cuLaunchKernel") || is("cuLaunchCooperativeKernel"))
    return static_cast<const LaunchParameters*>(parameters)->stream;
  if (is("cuMemcpyDtoDAsync")) return static_cast<const CopyParameters*>(parameters)->stream;
  if (is("cuMemcpy2DAsync")) return static_cast<const Copy2dParameters*>(parameters)->stream;
  if (is("cuMemsetD2D8Async") || is("cuMemsetD2D16Async") || is("cuMemsetD2D32Async"))
    return static_cast<const Fill2dParameters*>(parameters)->stream;
  if (is("cuMemsetD8Async") || is("cuMemsetD16Async") || is("cuMemsetD32Async"))
    return static_cast<const FillParameters*>(parameters)->stream;
  return std::nullopt;
}

bool StaysOnTheDevice(const CUDA_MEMCPY2D& copy) {
  return copy.srcMemoryType == CU_MEMORYTYPE_DEVICE && copy.dstMemoryType == CU_MEMORYTYPE_DEVICE;
}

std::string WrongAttribute(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    switch (config.attrs[i].id) {
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return "a launch that keeps a window of L2";
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return "a launch with an event";
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return "a launch that the device may change later";
      default:
        break;
    }
  }
  return "";
}

struct Cupti {
  int (*subscribe)(void** subscriber, CuptiCallback callback, void* user) = nullptr;
  int (*enable_domain)(uint32_t enable, void* subscriber, int domain) = nullptr;
};

class CuptiObserver : public Observer {
 public:
  std::string_view name() const override { return "cupti"; }

  Status Subscribe(const Cupti& cupti) {
    if (const int error = cupti.subscribe(&subscriber_, &CuptiObserver::OnCall, this); error != 0)
      return Unavailable(fmt::format("CUPTI takes no subscriber: error {}", error));
    if (const int error = cupti.enable_domain(1, subscriber_, kDriverDomain); error != 0)
      return Unavailable(fmt::format("CUPTI watches no driver calls: error {}", error));
    return OkStatus();
  }

  void Enter(CUstream stream) override {
    stream_ = stream;
    ++entries_;
    is_inside_ = true;
  }
  void Leave() override { is_inside_ = false; }

 private:
  static void OnCall(void* user, int domain, uint32_t, const void* data) {
    const auto& call = *static_cast<const CuptiCallbackData*>(data);
    if (domain == kDriverDomain && call.site == kOnEntry && call.function != nullptr)
      static_cast<CuptiObserver*>(user)->See(call);
  }

  void See(const CuptiCallbackData& call) {
    const std::string_view function = call.function;
    // The driver's own threads do not call it. What the guest calls by itself is little, and may be asked for closely.
    if (!(is_inside_ ? own_thread_.IsProbablyHere() : own_thread_.IsHere())) return HearAnotherThread();
    if (!is_inside_) return;
    if (IsMisdeed(function, entries_ <= kLoadingEntries)) AddMisdeed(std::string(function));
    if (std::string wrong = WrongParameters(function, call.parameters, stream_); !wrong.empty())
      AddMisdeed(std::move(wrong));
    if (function.starts_with("cuLaunch") && !function.starts_with("cuLaunchHostFunc"))
      AddLaunch(call.symbol == nullptr ? "unknown" : call.symbol);
  }

  void* subscriber_ = nullptr;
  CUstream stream_ = nullptr;
  const OwnThread own_thread_;
  // Read by other threads that have no business here.
  std::atomic<bool> is_inside_ = false;
  int entries_ = 0;
};

// ---- what a capture holds

// 1x1x1 where it has none. Asked of the launch, then of the kernel, whose text may fix it.
Dim3 ClusterOf(const Driver& driver, CUgraphNode node, CUfunction function) {
  CUlaunchAttributeValue value{};
  if (driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) == CUDA_SUCCESS &&
      value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1)
    return {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
  const auto fixed = [&](CUfunction_attribute attribute) {
    int extent = 0;
    const bool is_known = driver.cuFuncGetAttribute(&extent, attribute, function) == CUDA_SUCCESS;
    return is_known && extent > 0 ? uint32_t(extent) : 1u;
  };
  return {fixed(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), fixed(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
          fixed(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

CapturedLaunch LaunchOf(const Driver& driver, CUgraphNode node) {
  CapturedLaunch found;
  CUDA_KERNEL_NODE_PARAMS parameters{};
  if (driver.cuGraphKernelNodeGetParams(node, &parameters) != CUDA_SUCCESS || parameters.func == nullptr) return found;
  found.function = parameters.func;
  found.launch.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
  found.launch.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
  found.launch.cluster = ClusterOf(driver, node, parameters.func);
  found.launch.smem_bytes = parameters.sharedMemBytes;
  const char* name = nullptr;
  if (driver.cuFuncGetName(&name, parameters.func) == CUDA_SUCCESS && name != nullptr) found.kernel = name;
  return found;
}

}  // namespace

bool IsMisdeed(std::string_view driver_call, bool may_load) {
  return StartsWithAny(driver_call, kNever) || (!may_load && StartsWithAny(driver_call, kOnlyAtFirst));
}

OwnThread::OwnThread()
    : thread_(::pthread_self()), stack_(reinterpret_cast<uintptr_t>(__builtin_frame_address(0))), id_(::gettid()) {}

bool OwnThread::IsProbablyHere() const {
  constexpr uintptr_t kLargestStack = 64 << 20;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return ::pthread_equal(thread_, ::pthread_self()) && here - (stack_ - kLargestStack) < 2 * kLargestStack;
}

bool OwnThread::IsHere() const { return ::gettid() == id_; }

std::string WrongParameters(std::string_view driver_call, const void* parameters, CUstream stream) {
  const std::optional<CUstream> its_own = StreamOf(driver_call, parameters);
  if (stream != nullptr && its_own && *its_own != stream)
    return fmt::format("{} on a stream that it was not given",
                       driver_call.starts_with("cuLaunch") ? "a launch" : driver_call);
  if (driver_call.starts_with("cuMemcpy2DAsync") &&
      !StaysOnTheDevice(*static_cast<const Copy2dParameters*>(parameters)->copy))
    return "cuMemcpy2DAsync from or to the host";
  if (driver_call.starts_with("cuLaunchKernelEx"))
    return WrongAttribute(*static_cast<const LaunchExParameters*>(parameters)->config);
  return "";
}

std::vector<LaunchedKernel> Observer::Kernels() const {
  std::vector<LaunchedKernel> kernels;
  for (const auto& [name, launches] : launches_)
    if (kernels.size() < kMaxKernels) kernels.push_back({name, double(launches)});
  return kernels;
}

std::vector<std::string> Observer::Misdeeds() const {
  std::vector<std::string> misdeeds(misdeeds_.begin(), misdeeds_.end());
  if (has_heard_another_thread_) misdeeds.push_back("a driver call from a thread of its own");
  return misdeeds;
}

void Observer::Forget() {
  launches_.clear();
  misdeeds_.clear();
}

void Observer::AddMisdeed(std::string misdeed) {
  if (misdeeds_.size() < kMaxMisdeeds) misdeeds_.insert(std::move(misdeed));
}

Result<std::unique_ptr<Observer>> MakeCuptiObserver(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Unavailable(fmt::format("{} does not open", library));
  Cupti cupti;
  cupti.subscribe = reinterpret_cast<decltype(cupti.subscribe)>(::dlsym(handle, "cuptiSubscribe"));
  cupti.enable_domain = reinterpret_cast<decltype(cupti.enable_domain)>(::dlsym(handle, "cuptiEnableDomain"));
  if (cupti.subscribe == nullptr || cupti.enable_domain == nullptr)
    return Unavailable(fmt::format("{} is no CUPTI", library));
  auto observer = std::make_unique<CuptiObserver>();
  RETURN_IF_ERROR(observer->Subscribe(cupti));
  return std::unique_ptr<Observer>(std::move(observer));
}

std::unique_ptr<Observer> MakeBlindObserver() { return std::make_unique<BlindObserver>(); }

Result<std::vector<CapturedLaunch>> CaptureLaunches(const Gpu& gpu, const std::function<Status()>& call) {
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  RETURN_IF_CUDA_ERROR(driver->cuStreamBeginCapture(gpu.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  const Status called = call();
  CUgraph captured = nullptr;
  const CUresult ended = driver->cuStreamEndCapture(gpu.stream(), &captured);
  const std::unique_ptr<CUgraph_st, decltype(driver->cuGraphDestroy)> graph(captured, driver->cuGraphDestroy);
  RETURN_IF_ERROR(called);
  RETURN_IF_ERROR(DriverStatus(ended, "cuStreamEndCapture"));
  size_t count = 0;
  RETURN_IF_CUDA_ERROR(driver->cuGraphGetNodes(captured, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  RETURN_IF_CUDA_ERROR(driver->cuGraphGetNodes(captured, nodes.data(), &count));
  std::vector<CapturedLaunch> launches;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    RETURN_IF_CUDA_ERROR(driver->cuGraphNodeGetType(node, &type));
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) launches.push_back(LaunchOf(*driver, node));
  }
  return launches;
}

std::vector<LaunchedKernel> CountLaunches(const std::vector<CapturedLaunch>& launches) {
  std::map<std::string, uint64_t> numbers;
  for (const CapturedLaunch& launch : launches) ++numbers[launch.kernel];
  std::vector<LaunchedKernel> kernels;
  for (const auto& [name, number] : numbers) kernels.push_back({name, double(number)});
  return kernels;
}

}  // namespace gemmsmith
