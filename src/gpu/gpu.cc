#include "gpu/gpu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "gpu/nvml.h"

namespace gemmsmith {

namespace {

std::string PrintUuid(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uint8_t(uuid.bytes[i]));
  }
  return text;
}

Result<int> Attribute(const Driver& driver, CUdevice_attribute attribute, CUdevice device) {
  int value = 0;
  RETURN_IF_ERROR(DriverStatus(driver.cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute"));
  return value;
}

std::string DriverRelease(const GpuIdentity& identity) {
  const auto nvml = Nvml::Open(identity.uuid);
  return nvml.ok() ? (*nvml)->DriverRelease() : "";
}

}  // namespace

Result<GpuIdentity> IdentifyGpu(const Driver& driver, int ordinal) {
  GpuIdentity identity;
  identity.ordinal = ordinal;
  CUdevice device = 0;
  RETURN_IF_ERROR(DriverStatus(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  std::array<char, 128> name{};
  RETURN_IF_ERROR(DriverStatus(driver.cuDeviceGetName(name.data(), int(name.size()), device), "cuDeviceGetName"));
  CUuuid uuid{};
  RETURN_IF_ERROR(DriverStatus(driver.cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid"));
  size_t memory_bytes = 0;
  RETURN_IF_ERROR(DriverStatus(driver.cuDeviceTotalMem(&memory_bytes, device), "cuDeviceTotalMem"));
  RETURN_IF_ERROR(DriverStatus(driver.cuDriverGetVersion(&identity.driver_version), "cuDriverGetVersion"));
  ASSIGN_OR_RETURN(const int major, Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  ASSIGN_OR_RETURN(const int minor, Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  ASSIGN_OR_RETURN(const int multiprocessors, Attribute(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  ASSIGN_OR_RETURN(const int smem_block,
                   Attribute(driver, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  ASSIGN_OR_RETURN(const int smem_multiprocessor,
                   Attribute(driver, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device));
  identity.device = DescribeDevice(name.data(), major, minor, multiprocessors, smem_block, smem_multiprocessor);
  identity.uuid = PrintUuid(uuid);
  identity.memory_bytes = memory_bytes;
  ASSIGN_OR_RETURN(const int l2_bytes, Attribute(driver, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  identity.l2_bytes = uint64_t(l2_bytes);
  return identity;
}

Result<std::vector<GpuIdentity>> ListGpus() {
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  int count = 0;
  RETURN_IF_CUDA_ERROR(driver->cuDeviceGetCount(&count));
  std::vector<GpuIdentity> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    ASSIGN_OR_RETURN(GpuIdentity identity, IdentifyGpu(*driver, ordinal));
    identity.driver_release = gpus.empty() ? DriverRelease(identity) : gpus[0].driver_release;
    gpus.push_back(std::move(identity));
  }
  return gpus;
}

// Destructors ignore what the driver says: after a kernel's error every call reports it again, and it was told before.

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}
DeviceMemory::~DeviceMemory() {
  if (address_ != 0) driver_->cuMemFree(address_);
}

PageLockedMemory::PageLockedMemory(PageLockedMemory&& other) noexcept { *this = std::move(other); }
PageLockedMemory& PageLockedMemory::operator=(PageLockedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
PageLockedMemory::~PageLockedMemory() {
  if (!bytes_.empty()) driver_->cuMemFreeHost(bytes_.data());
}

Graph::Graph(Graph&& other) noexcept { *this = std::move(other); }
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(exec_, other.exec_);
  std::swap(captured_, other.captured_);
  return *this;
}
Graph::~Graph() {
  if (exec_ != nullptr) driver_->cuGraphExecDestroy(exec_);
  if (captured_ != nullptr) driver_->cuGraphDestroy(captured_);
}

Event::Event(Event&& other) noexcept { *this = std::move(other); }
Event& Event::operator=(Event&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(event_, other.event_);
  return *this;
}
Event::~Event() {
  if (event_ != nullptr) driver_->cuEventDestroy(event_);
}

Result<std::unique_ptr<Gpu>> Gpu::Open(int ordinal) {
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  int count = 0;
  RETURN_IF_CUDA_ERROR(driver->cuDeviceGetCount(&count));
  if (ordinal < 0 || ordinal >= count) return NotFound(fmt::format("no GPU {}: the driver sees {}", ordinal, count));
  std::unique_ptr<Gpu> gpu(new Gpu);
  gpu->driver_ = driver;
  ASSIGN_OR_RETURN(gpu->identity_, IdentifyGpu(*driver, ordinal));
  gpu->identity_.driver_release = DriverRelease(gpu->identity_);
  RETURN_IF_CUDA_ERROR(driver->cuDeviceGet(&gpu->device_, ordinal));
  RETURN_IF_CUDA_ERROR(driver->cuDevicePrimaryCtxRetain(&gpu->context_, gpu->device_));
  RETURN_IF_CUDA_ERROR(driver->cuCtxSetCurrent(gpu->context_));
  // A part of L2 set aside would outlive the kernel that asked for it. Some devices have no such part.
  const CUresult limited = driver->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  if (limited != CUDA_ERROR_UNSUPPORTED_LIMIT) RETURN_IF_ERROR(DriverStatus(limited, "cuCtxSetLimit"));
  RETURN_IF_CUDA_ERROR(driver->cuStreamCreate(&gpu->stream_, CU_STREAM_NON_BLOCKING));
  return gpu;
}

Gpu::~Gpu() {
  if (other_stream_ != nullptr) driver_->cuStreamDestroy(other_stream_);
  if (stream_ != nullptr) driver_->cuStreamDestroy(stream_);
  if (context_ != nullptr) driver_->cuDevicePrimaryCtxRelease(device_);
}

Result<DeviceMemory> Gpu::Allocate(uint64_t bytes) {
  DeviceMemory memory;
  memory.driver_ = driver_;
  if (bytes == 0) return memory;
  const CUresult allocated = driver_->cuMemAlloc(&memory.address_, bytes);
  if (allocated == CUDA_ERROR_OUT_OF_MEMORY)
    return Unavailable(fmt::format("the GPU has no {} MiB left ({} of {} MiB are free)", bytes >> 20, FreeBytes() >> 20,
                                   identity_.memory_bytes >> 20));
  RETURN_IF_ERROR(DriverStatus(allocated, "cuMemAlloc"));
  memory.size_bytes_ = bytes;
  return memory;
}

Result<PageLockedMemory> Gpu::AllocateOnHost(uint64_t bytes) {
  PageLockedMemory memory;
  memory.driver_ = driver_;
  if (bytes == 0) return memory;
  void* address = nullptr;
  const CUresult allocated = driver_->cuMemHostAlloc(&address, bytes, 0);
  if (allocated == CUDA_ERROR_OUT_OF_MEMORY)
    return Unavailable(fmt::format("the host has no {} MiB left that the GPU could copy from", bytes >> 20));
  RETURN_IF_ERROR(DriverStatus(allocated, "cuMemHostAlloc"));
  memory.bytes_ = {static_cast<uint8_t*>(address), bytes};
  return memory;
}

// On our stream: copies without a stream are not ordered with a non-blocking one.
Status Gpu::CopyToDevice(CUdeviceptr to, std::span<const uint8_t> from) {
  if (from.empty()) return OkStatus();
  RETURN_IF_CUDA_ERROR(driver_->cuMemcpyHtoDAsync(to, from.data(), from.size(), stream_));
  return Synchronize();
}

Status Gpu::CopyToHost(std::span<uint8_t> to, CUdeviceptr from) {
  if (to.empty()) return OkStatus();
  RETURN_IF_CUDA_ERROR(driver_->cuMemcpyDtoHAsync(to.data(), from, to.size(), stream_));
  return Synchronize();
}

Status Gpu::Fill8(CUdeviceptr address, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return OkStatus();
  RETURN_IF_CUDA_ERROR(driver_->cuMemsetD8Async(address, value, bytes, stream_));
  return OkStatus();
}

Status Gpu::Fill16(CUdeviceptr address, uint16_t value, uint64_t count) {
  if (count == 0) return OkStatus();
  RETURN_IF_CUDA_ERROR(driver_->cuMemsetD16Async(address, value, count, stream_));
  return OkStatus();
}

Status Gpu::Copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes) {
  if (bytes == 0) return OkStatus();
  RETURN_IF_CUDA_ERROR(driver_->cuMemcpyDtoDAsync(to, from, bytes, stream_));
  return OkStatus();
}

uint64_t Gpu::FreeBytes() const {
  size_t free = 0, total = 0;
  return driver_->cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? free : 0;
}

Result<Kernel> Gpu::Load(std::span<const uint8_t> cubin, const std::string& entry, uint32_t dynamic_smem_bytes) {
  return Kernel::Load(*driver_, cubin, entry, dynamic_smem_bytes, identity_.device.compute_major >= 9);
}

Result<Residency> Gpu::ResidencyOf(CUfunction kernel, const Launch& launch) const {
  Residency residency;
  RETURN_IF_CUDA_ERROR(
      driver_->cuFuncGetAttribute(&residency.registers_per_thread, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
  RETURN_IF_CUDA_ERROR(
      driver_->cuFuncGetAttribute(&residency.static_smem_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
  const int threads = int(launch.block.x * launch.block.y * launch.block.z);
  RETURN_IF_CUDA_ERROR(driver_->cuOccupancyMaxActiveBlocksPerMultiprocessor(&residency.ctas_per_multiprocessor, kernel,
                                                                            threads, launch.smem_bytes));
  ASSIGN_OR_RETURN(const int max_threads,
                   Attribute(*driver_, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device_));
  residency.max_warps_per_multiprocessor = max_threads / 32;
  ASSIGN_OR_RETURN(residency.ctas_at_once, CtasAtOnce(*driver_, kernel, launch, identity_.device.multiprocessors));
  return residency;
}

Status Gpu::StartGemm(const Kernel& kernel, const Launch& launch, const GemmParameters& parameters, Chaining chaining) {
  void* pointers[] = {const_cast<std::byte*>(parameters.bytes.data())};
  return StartRaw(kernel, launch, pointers, chaining);
}

Status Gpu::StartRaw(const Kernel& kernel, const Launch& launch, void** arguments, Chaining chaining) {
  ASSIGN_OR_RETURN(const uint32_t grid_x, kernel.GridFor(launch, identity_.device.multiprocessors));
  RETURN_IF_ERROR(DriverStatus(StartOn(stream_, *driver_, kernel.function(), launch, grid_x, arguments, chaining),
                               "cuLaunchKernelEx"));
  return OkStatus();
}

Status Gpu::Synchronize() {
  RETURN_IF_CUDA_ERROR(driver_->cuStreamSynchronize(stream_));
  return OkStatus();
}

Status Gpu::ResetPersistingL2() {
  RETURN_IF_CUDA_ERROR(driver_->cuCtxResetPersistingL2Cache());
  return OkStatus();
}

Status Gpu::OnAnotherStream(const std::function<Status()>& work) {
  RETURN_IF_ERROR(Synchronize());
  if (other_stream_ == nullptr) RETURN_IF_CUDA_ERROR(driver_->cuStreamCreate(&other_stream_, CU_STREAM_NON_BLOCKING));
  std::swap(stream_, other_stream_);
  Status done = work();
  if (done.ok()) done = Synchronize();
  std::swap(stream_, other_stream_);
  return done;
}

Status Gpu::SynchronizeAll() {
  RETURN_IF_CUDA_ERROR(driver_->cuCtxSynchronize());
  return OkStatus();
}

Result<Graph> Gpu::Capture(const std::function<Status()>& calls) {
  ASSIGN_OR_RETURN(Graph graph, CaptureReplaceable(calls));
  driver_->cuGraphDestroy(std::exchange(graph.captured_, nullptr));
  return graph;
}

Result<Graph> Gpu::CaptureReplaceable(const std::function<Status()>& calls) {
  // Thread-local: what other threads do with the driver meanwhile is none of this capture's business.
  RETURN_IF_CUDA_ERROR(driver_->cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  const Status called = calls();
  Graph graph;
  graph.driver_ = driver_;
  const CUresult ended = driver_->cuStreamEndCapture(stream_, &graph.captured_);
  RETURN_IF_ERROR(called);
  RETURN_IF_ERROR(DriverStatus(ended, "cuStreamEndCapture"));
  RETURN_IF_CUDA_ERROR(driver_->cuGraphInstantiateWithFlags(&graph.exec_, graph.captured_, 0));
  return graph;
}

Status Gpu::ReplaceArgumentsRaw(const Graph& graph, const Kernel& kernel, void** arguments) {
  size_t count = 0;
  RETURN_IF_CUDA_ERROR(driver_->cuGraphGetNodes(graph.captured_, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  RETURN_IF_CUDA_ERROR(driver_->cuGraphGetNodes(graph.captured_, nodes.data(), &count));
  int replaced = 0;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    RETURN_IF_CUDA_ERROR(driver_->cuGraphNodeGetType(node, &type));
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    CUDA_KERNEL_NODE_PARAMS parameters{};
    RETURN_IF_CUDA_ERROR(driver_->cuGraphKernelNodeGetParams(node, &parameters));
    if (parameters.func != kernel.function()) continue;
    parameters.kernelParams = arguments;
    parameters.extra = nullptr;
    RETURN_IF_CUDA_ERROR(driver_->cuGraphExecKernelNodeSetParams(graph.exec_, node, &parameters));
    ++replaced;
  }
  return replaced > 0 ? OkStatus() : IoError("a graph without a launch of the kernel whose argument is replaced");
}

Status Gpu::Replay(const Graph& graph) {
  RETURN_IF_CUDA_ERROR(driver_->cuGraphLaunch(graph.exec_, stream_));
  return OkStatus();
}

Result<Event> Gpu::MakeEvent() {
  Event event;
  event.driver_ = driver_;
  RETURN_IF_CUDA_ERROR(driver_->cuEventCreate(&event.event_, CU_EVENT_DEFAULT));
  return event;
}

Result<EventPair> EventPair::Make(Gpu& gpu) {
  EventPair pair;
  ASSIGN_OR_RETURN(pair.first, gpu.MakeEvent());
  ASSIGN_OR_RETURN(pair.last, gpu.MakeEvent());
  return pair;
}

Result<std::vector<EventPair>> EventPair::MakeSeveral(Gpu& gpu, size_t count) {
  std::vector<EventPair> pairs(count);
  for (EventPair& pair : pairs) {
    ASSIGN_OR_RETURN(pair, Make(gpu));
  }
  return pairs;
}

Status Gpu::Record(const Event& event) {
  RETURN_IF_CUDA_ERROR(driver_->cuEventRecord(event.event_, stream_));
  return OkStatus();
}

Result<double> Gpu::ElapsedNs(const Event& first, const Event& last) {
  RETURN_IF_CUDA_ERROR(driver_->cuEventSynchronize(last.event_));
  float milliseconds = 0;
  RETURN_IF_CUDA_ERROR(driver_->cuEventElapsedTime(&milliseconds, first.event_, last.event_));
  return double(milliseconds) * 1e6;
}

}  // namespace gemmsmith
