// One GPU: its context, memory, streams, events, graphs and kernels. Programs that call the library launch the same way
// (gpu/start_kernel.h).
// Every handle is owned and must be destroyed before its Gpu. Used from the thread that opened it.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "gpu/driver.h"
#include "gpu/start_kernel.h"
#include "problem/device_model.h"

namespace gemmsmith {

struct GpuIdentity {
  Device device;
  std::string uuid;
  int ordinal = 0;
  int driver_version = 0;      // 13000
  std::string driver_release;  // "580.159.04"; "" where NVML does not answer
  uint64_t memory_bytes = 0;
  uint64_t l2_bytes = 0;
};
// Without the driver's release. Creates no context.
Result<GpuIdentity> IdentifyGpu(const Driver& driver, int ordinal);
// The GPUs that the driver sees, at least one; without any, the status of Driver::Open(). Creates no context.
Result<std::vector<GpuIdentity>> ListGpus();

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();
  CUdeviceptr address() const { return address_; }
  template <class T = void>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  friend class Gpu;
  const Driver* driver_ = nullptr;
  CUdeviceptr address_ = 0;
  uint64_t size_bytes_ = 0;
};

// Page-locked host memory, which copies use at the full speed of the bus. Copies of pageable memory reach a third of it
// or less.
class PageLockedMemory {
 public:
  PageLockedMemory() = default;
  PageLockedMemory(PageLockedMemory&& other) noexcept;
  PageLockedMemory& operator=(PageLockedMemory&& other) noexcept;
  ~PageLockedMemory();
  std::span<uint8_t> bytes() const { return bytes_; }

 private:
  friend class Gpu;
  const Driver* driver_ = nullptr;
  std::span<uint8_t> bytes_;
};

// A kernel's resources, and how many CTAs of a launch are resident at once.
struct Residency {
  int registers_per_thread = 0;
  int static_smem_bytes = 0;
  int ctas_per_multiprocessor = 0;
  int max_warps_per_multiprocessor = 0;
  int64_t ctas_at_once = 0;  // on the whole GPU; of clusters, those whose CTAs fit together
};

class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

 private:
  friend class Gpu;
  const Driver* driver_ = nullptr;
  CUgraphExec exec_ = nullptr;
  CUgraph captured_ = nullptr;  // null but where arguments may be replaced
};

class Gpu;

class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

 private:
  friend class Gpu;
  const Driver* driver_ = nullptr;
  CUevent event_ = nullptr;
};

// The two ends of what is timed.
struct EventPair {
  Event first, last;
  static Result<EventPair> Make(Gpu& gpu);
  static Result<std::vector<EventPair>> MakeSeveral(Gpu& gpu, size_t count);
};

class Gpu {
 public:
  // Makes the primary context of this GPU current on the calling thread, sets the persisting-L2 limit to 0.
  static Result<std::unique_ptr<Gpu>> Open(int ordinal);
  ~Gpu();

  const GpuIdentity& identity() const { return identity_; }
  CUstream stream() const { return stream_; }
  CUcontext context() const { return context_; }

  // Unavailable, with the sizes, where the GPU has not so much. Aligned to 256 bytes; 0 bytes is a null address.
  Result<DeviceMemory> Allocate(uint64_t bytes);
  // Unavailable where the host has not so much.
  Result<PageLockedMemory> AllocateOnHost(uint64_t bytes);
  // In stream order, and done when they return.
  Status CopyToDevice(CUdeviceptr to, std::span<const uint8_t> from);
  Status CopyToHost(std::span<uint8_t> to, CUdeviceptr from);
  // In stream order, without waiting; the value is repeated.
  Status Fill8(CUdeviceptr address, uint8_t value, uint64_t bytes);
  Status Fill16(CUdeviceptr address, uint16_t value, uint64_t count);
  // From device memory to device memory; in stream order, without waiting.
  Status Copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
  uint64_t FreeBytes() const;

  Result<Kernel> Load(std::span<const uint8_t> cubin, const std::string& entry, uint32_t dynamic_smem_bytes);
  // The one launch path. `argument` is the kernel's single parameter block, by value.
  template <class Argument>
  Status Start(const Kernel& kernel, const Launch& launch, const Argument& argument) {
    void* pointers[] = {const_cast<Argument*>(&argument)};
    return StartRaw(kernel, launch, pointers);
  }
  Status StartRaw(const Kernel& kernel, const Launch& launch, void** arguments, Chaining chaining = Chaining::kNone);
  Result<GemmParameters> ParametersFor(const Launch& launch, const GemmArguments& arguments) const {
    return gemmsmith::ParametersFor(*driver_, launch, arguments);
  }
  Status StartGemm(const Kernel& kernel, const Launch& launch, const GemmParameters& parameters,
                   Chaining chaining = Chaining::kNone);

  Result<Residency> ResidencyOf(const Kernel& kernel, const Launch& launch) const {
    return ResidencyOf(kernel.function(), launch);
  }
  // For a kernel that was loaded elsewhere.
  Result<Residency> ResidencyOf(CUfunction kernel, const Launch& launch) const;

  // Waits for the stream. An error here is the kernel's: the context is lost.
  Status Synchronize();
  // Waits for all streams of the context, whoever made them.
  Status SynchronizeAll();

  // Redirects what `work` puts on stream() to another stream, ordered after earlier and before later work of the usual
  // one.
  Status OnAnotherStream(const std::function<Status()>& work);

  // Lines of L2 that were to persist are like others again.
  Status ResetPersistingL2();

  // Captures what `calls` puts on stream() into a graph; `calls` must not synchronise.
  Result<Graph> Capture(const std::function<Status()>& calls);
  Status Replay(const Graph& graph);
  // A graph whose kernels can be given other arguments before it is replayed.
  Result<Graph> CaptureReplaceable(const std::function<Status()>& calls);
  // In every launch of this kernel. An error where the graph has none.
  template <class Argument>
  Status ReplaceArgument(const Graph& graph, const Kernel& kernel, const Argument& argument) {
    void* pointers[] = {const_cast<Argument*>(&argument)};
    return ReplaceArgumentsRaw(graph, kernel, pointers);
  }

  Result<Event> MakeEvent();
  Status Record(const Event& event);
  // Waits for `last`, then the device time between the two.
  Result<double> ElapsedNs(const Event& first, const Event& last);

 private:
  Gpu() = default;
  Status ReplaceArgumentsRaw(const Graph& graph, const Kernel& kernel, void** arguments);
  const Driver* driver_ = nullptr;
  GpuIdentity identity_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUstream other_stream_ = nullptr;  // made when it is first wanted
};

}  // namespace gemmsmith
